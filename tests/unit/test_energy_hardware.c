// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_energy_hardware - real counters, each figure inside a bracket that is read here (SPEC 4.5)
 *
 * A program of its own, since a counter's domain is wider than a test: its cases run one after the
 * other, and two such programs never at once.  Without hardware it says so.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "host/energy_run.h"
#include "tap.h"
#include "units.h"

#define FOLDER "/sys/class/powercap"
#define ZONE   FOLDER "/intel-rapl:0/"
#define TRIES  5

/* By another way than the product's. */
static long long raw_uj(void)
{
	FILE *f = fopen(ZONE "energy_uj", "re");
	long long v = -1;

	if (f && fscanf(f, "%lld", &v) != 1)
		v = -1;
	if (f)
		fclose(f);
	return v;
}

static void name_of_zone(char name[64])
{
	FILE *f = fopen(ZONE "name", "re");

	if (!f || fscanf(f, "%63s", name) != 1)
		*name = '\0';
	if (f)
		fclose(f);
}

/* By this thread's own clock: on a busy machine wall time is others' (SPEC 4.5). */
static void burn_ns(int64_t ns)
{
	int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < ns)
		;
}

static void idle_ns(int64_t ns)
{
	const struct timespec t = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	nanosleep(&t, NULL);
}

static const struct energy *entry_of(const struct energy *all, size_t n, const char *domain)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].domain && !strcmp(all[i].domain, domain))
			return &all[i];
	return NULL;
}

struct bracket {
	long long before, started, ending, after; /* our readings around the product's */
	struct energy *all;
	size_t n;
};

/* False: the counter wrapped just then. */
static bool take(struct bracket *b, enum energy_source source)
{
	struct energy_run run;

	energy_run_open(&run, source);
	b->before = raw_uj();
	energy_run_start(&run, clock_ns(CLOCK_MONOTONIC));
	b->started = raw_uj();
	burn_ns(200 * NS_PER_MS);
	b->ending = raw_uj();
	energy_run_end(&run, clock_ns(CLOCK_MONOTONIC));
	b->after = raw_uj();
	if (energy_run_tell(&run, &b->all, &b->n))
		abort();
	energy_run_close(&run);
	return b->before <= b->started && b->started <= b->ending && b->ending <= b->after;
}

static void in_bracket(const char *domain)
{
	struct bracket b;
	const struct energy *e;

	while (!take(&b, ENERGY_RAPL))
		energies_free(b.all, b.n);
	e = entry_of(b.all, b.n, domain);
	OK(e, "%s is found", domain);
	if (e && !strcmp(e->status, "live")) {
		OK(e->start_uj >= b.before && e->start_uj <= b.started,
		   "its start is in the bracket");
		OK(e->end_uj >= b.ending && e->end_uj <= b.after, "its end is in the bracket");
		EQ_I(e->delta_uj, e->end_uj - e->start_uj, "its figure is what lies between");
		EQ_S(e->quality, "measured", "and is called measured");
	} else if (e) {
		SKIP("elsewhere: %s is %s (%s)", domain, e->status, e->reason);
	}
	energies_free(b.all, b.n);
}

/* perf reads the same register, which is brought up to date about once a millisecond. */
static void as_powercap(const char *domain)
{
	struct bracket b;
	const struct energy *e;

	while (!take(&b, ENERGY_PERF))
		energies_free(b.all, b.n);
	e = entry_of(b.all, b.n, domain);
	if (e && e->delta_uj >= 0) {
		double inner = (double)(b.ending - b.started), outer = (double)(b.after - b.before);

		OK((double)e->delta_uj >= inner * 0.95, "perf has what powercap has, at least");
		OK((double)e->delta_uj <= outer * 1.05, "and no more");
	} else {
		SKIP("elsewhere: no perf counter of %s lives", domain);
	}
	energies_free(b.all, b.n);
}

/* A second of one core's time on top of a second of idling just before. */
static void burns_more_than_idling(void)
{
	double idle = 0, busy = 0;

	for (int i = 0; i < TRIES && busy <= idle; i++) {
		long long a = raw_uj(), b, c;
		int64_t t0 = clock_ns(CLOCK_MONOTONIC), t1, t2;

		idle_ns(NS_PER_S);
		b = raw_uj();
		t1 = clock_ns(CLOCK_MONOTONIC);
		burn_ns(NS_PER_S);
		c = raw_uj();
		t2 = clock_ns(CLOCK_MONOTONIC);
		if (b < a || c < b)
			continue;
		idle = (double)(b - a) / (double)(t1 - t0);
		busy = (double)(c - b) / (double)(t2 - t1);
	}
	OK(busy > idle, "a core that burns raises its package's power: %.1f W over %.1f W",
	   busy * 1e3, idle * 1e3);
}

static void cases(void)
{
	char domain[64];

	name_of_zone(domain);
	in_bracket(domain);
	as_powercap(domain);
	burns_more_than_idling();
}

int main(void)
{
	int lock = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || access(ZONE "energy_uj", F_OK)) {
		SKIP("elsewhere: no powercap");
	} else if (raw_uj() < 0) {
		SKIP("elsewhere: powercap may not be read: it takes root");
	} else {
		flock(lock, LOCK_EX);
		cases();
	}
	if (lock >= 0)
		close(lock);
	return tap_done();
}
