// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/energy_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/energy_find.h"
#include "units.h"

#define ROOT         "/sys"
#define ROOT_TEST    "EXITMETER_TEST_SYSFS"
#define BURN_NS      (ENERGY_INTERVAL_MS * NS_PER_MS)
#define BURN_MOST_NS (BURN_NS + BURN_NS / 4) /* of wall time, where others have the processor */

static void burn(void *ctx)
{
	int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);

	(void)ctx;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu < BURN_NS &&
	       clock_ns(CLOCK_MONOTONIC) - wall < BURN_MOST_NS)
		;
}

static bool wants(enum energy_source choice, enum energy_source source)
{
	return choice == ENERGY_AUTO || choice == source;
}

void energy_run_open(struct energy_run *r, enum energy_source choice)
{
	const char *root = getenv(ROOT_TEST);

	root = root && *root ? root : ROOT;
	*r = (struct energy_run){ .on = true, .choice = choice };
	if (wants(choice, ENERGY_RAPL))
		energy_find_rapl(&r->domains, root);
	if (wants(choice, ENERGY_PERF))
		energy_find_perf(&r->domains, root);
	if (wants(choice, ENERGY_NVML))
		energy_find_nvml(&r->domains);
	if (wants(choice, ENERGY_HWMON))
		energy_find_hwmon(&r->domains, root);
	energy_probe(&r->domains, burn, NULL);
	r->counters = calloc(r->domains.n + 1, sizeof(*r->counters));
	r->errs = calloc(r->domains.n + 1, sizeof(*r->errs));
}

void energy_run_start(struct energy_run *r, int64_t now_ns)
{
	for (size_t i = 0; r->counters && r->errs && i < r->domains.n; i++)
		if (energy_chosen(&r->domains, i, r->choice))
			r->errs[i] =
				energy_counter_open(&r->domains.at[i], now_ns, &r->counters[i]);
	r->next_ns = now_ns + ENERGY_EVERY_S * NS_PER_S;
}

void energy_run_update(struct energy_run *r, int64_t now_ns)
{
	if (!r->on || now_ns < r->next_ns)
		return;
	energy_run_end(r, now_ns);
}

void energy_run_end(struct energy_run *r, int64_t now_ns)
{
	for (size_t i = 0; r->counters && i < r->domains.n; i++)
		if (r->counters[i].of)
			energy_counter_update(&r->counters[i], now_ns);
	r->next_ns = now_ns + ENERGY_EVERY_S * NS_PER_S;
}

/* Where nothing lives, each source says why. */
static bool told(const struct energy_run *r, size_t i, bool any)
{
	return any ? energy_chosen(&r->domains, i, r->choice) : !r->domains.at[i].part;
}

static int tell_one(const struct energy_run *r, size_t i, struct energy *ret)
{
	const struct energy_domain *d = &r->domains.at[i];
	int err;

	if (r->counters && r->counters[i].of)
		return energy_counter_tell(&r->counters[i], ret);
	err = energy_domain_tell(d, ret);
	if (err || ret->reason || !r->errs || !r->errs[i])
		return err;
	ret->reason = strdup(strerror(-r->errs[i]));
	return ret->reason ? 0 : -ENOMEM;
}

int energy_run_tell(const struct energy_run *r, struct energy **ret, size_t *ret_n)
{
	struct energy *all = calloc(r->domains.n + 1, sizeof(*all));
	bool any = false;
	size_t n = 0;
	int err = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < r->domains.n; i++)
		any |= energy_chosen(&r->domains, i, r->choice);
	for (size_t i = 0; !err && i < r->domains.n; i++)
		if (told(r, i, any))
			err = tell_one(r, i, &all[n++]);
	if (err) {
		energies_free(all, n);
		return err;
	}
	*ret = all;
	*ret_n = n;
	return 0;
}

void energy_run_close(struct energy_run *r)
{
	energy_domains_free(&r->domains);
	free(r->counters);
	free(r->errs);
	*r = (struct energy_run){ 0 };
}
