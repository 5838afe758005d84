// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_attribute - SPEC 1.8 to 1.11 (U-65 to U-86) and 1.17 (U-130, U-132)
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/exitmeter.h"
#include "random.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TOL      1e-9
#define MIB      ((int64_t)1 << 20)
#define NONE     (-1)
#define SPANS    4

/* Peaks in MiB; -1 stays. */
static int64_t bytes_of(int64_t mib)
{
	return mib < 0 ? mib : mib * MIB;
}

static void eq_usage(const struct em_usage *got, int64_t mib, double cpu, double cpus,
		     const char *label, size_t span)
{
	EQ_I(got->peak_rss_bytes, bytes_of(mib), "%s: span %zu peak", label, span + 1);
	EQ_D(got->cpu_seconds, cpu, TOL, "%s: span %zu CPU", label, span + 1);
	EQ_D(got->peak_cpus, cpus, TOL, "%s: span %zu cores", label, span + 1);
}

/* The process of 1.10: 5.5 s long, now is 6. */
static const struct {
	double at;
	int64_t mib;
	double cpu;
} samples[] = {
	{ 1, 100, .9 }, { 2, 300, 2.8 }, { 3, 250, 4.6 }, { 4, 800, 8.5 }, { 5, 120, 8.7 },
};

static const struct em_mark aged_1_10[] = {
	{ 6, -1, 0, -1 },           { 5, 104857600, .9, .9 },   { 4, 314572800, 2.8, 1.9 },
	{ 3, 262144000, 4.6, 1.8 }, { 2, 838860800, 8.5, 3.9 }, { 1, 125829120, 8.7, .2 },
	{ .5, -1, 9, -1 },
};

static size_t process_1_10(struct em_mark *out, size_t cap)
{
	em_meter *m = em_meter_new(0, -1);
	size_t n;

	if (!m)
		exit(99);
	for (size_t i = 0; i < COUNT(samples); i++)
		em_meter_sample(m, samples[i].mib * MIB, samples[i].cpu, samples[i].at);
	OK(!em_meter_sample(m, 1, 8.8, 5.1), "U-10 a sample too soon is dropped");
	em_meter_end(m, 700 * MIB, 9, 5.5);
	EQ_I(em_meter_max_rss(m), 700 * MIB, "U-44 max_rss");
	EQ_D(em_meter_peak_cpus(m), 3.9, TOL, "1.10 the most cores");
	n = em_meter_aged(m, 6, out, cap);
	em_meter_free(m);
	EQ_I(n, COUNT(aged_1_10), "1.10 marks");
	for (size_t i = 0; i < n; i++) {
		EQ_D(out[i].at, aged_1_10[i].at, TOL, "1.10 mark %zu: age", i);
		EQ_I(out[i].rss, aged_1_10[i].rss, "1.10 mark %zu: rss", i);
		EQ_D(out[i].cpu, aged_1_10[i].cpu, TOL, "1.10 mark %zu: cpu", i);
		EQ_D(out[i].cpus, aged_1_10[i].cpus, TOL, "1.10 mark %zu: cpus", i);
	}
	return n;
}

static const struct example {
	const char *label;
	bool unsampled; /* E9, E10: only the start and the end */
	int64_t max_mib;
	struct {
		double started, ended;
		int64_t mib;
		double cpu, cpus;
	} spans[SPANS];
	size_t n;
} examples[] = {
	{ "E1 U-70 to U-75, max_rss is not used",
	  false,
	  700,
	  { { 5.8, 3.5, 300, 3.52, 1.9 },
	    { 3.5, 1.2, 800, 4.96, 3.9 },
	    { 1.15, 1.1, 120, .01, .2 },
	    { 1.05, -1, 120, .31, .2 } },
	  4 },
	{ "E2 U-74 max_rss does not lower", false, 700, { { 5.8, -1, 800, 8.82, 3.9 } }, 1 },
	{ "E3 U-74 max_rss raises the only one", false, 900, { { 5.8, -1, 900, 8.82, 3.9 } }, 1 },
	{ "E4 U-70, U-74 shorter than a tick, the only one",
	  false,
	  700,
	  { { 1.15, 1.1, 700, .01, .2 } },
	  1 },
	{ "E5 U-78 after the last sample",
	  false,
	  700,
	  { { 5.8, .9, 800, 8.58, 3.9 }, { .8, .6, NONE, .12, NONE } },
	  2 },
	{ "E6 U-77 a border on a sample",
	  false,
	  700,
	  { { 5, 4, 300, 1.9, 1.9 }, { 4, 3, 300, 1.8, 1.8 } },
	  2 },
	{ "E7 U-79 no length, on a mark",
	  false,
	  700,
	  { { 2, 2, 800, 0, .2 }, { 6, 5, 100, .9, .9 } },
	  2 },
	{ "E8 U-76 wholly outside",
	  false,
	  700,
	  { { 20, 10, NONE, NONE, NONE }, { .4, .1, NONE, NONE, NONE } },
	  2 },
	{ "E9 U-80 no samples, the only one", true, 512, { { 4, -1, 512, 3.25, NONE } }, 1 },
	{ "E10 U-80 no samples, two",
	  true,
	  512,
	  { { 4, 2, NONE, NONE, NONE }, { 2, -1, NONE, NONE, NONE } },
	  2 },
	{ "U-76 clipped to the process",
	  false,
	  -1,
	  { { 60, 5.5, 100, .45, .9 }, { .7, -50, NONE, .12, NONE } },
	  2 },
	{ "U-66 an overlap counts for both",
	  false,
	  -1,
	  { { 6, 3, 300, 4.6, 1.9 }, { 4, -1, 800, 6.2, 3.9 } },
	  2 },
	{ "U-78 the only one, after the last sample, without max_rss",
	  false,
	  -1,
	  { { .8, .6, NONE, .12, NONE } },
	  1 },
	{ "an end before its start", false, -1, { { 2, 3, NONE, NONE, NONE } }, 1 },
	{ "times that are none", false, 700, { { NAN, 3, NONE, NONE, NONE } }, 1 },
};

static void worked_examples(void)
{
	static const struct em_mark unsampled[] = { { 4, -1, 0, -1 }, { 0, -1, 3.25, -1 } };
	struct em_mark marks[EM_MAX_MARKS];
	size_t n = process_1_10(marks, COUNT(marks));

	for (size_t i = 0; i < COUNT(examples); i++) {
		const struct example *x = &examples[i];
		struct em_span spans[SPANS];
		struct em_usage out[SPANS];

		for (size_t k = 0; k < x->n; k++)
			spans[k] = (struct em_span){ (int64_t)k, x->spans[k].started,
						     x->spans[k].ended };
		if (x->unsampled)
			em_attribute(unsampled, COUNT(unsampled), bytes_of(x->max_mib), spans, x->n,
				     out);
		else
			em_attribute(marks, n, bytes_of(x->max_mib), spans, x->n, out);
		for (size_t k = 0; k < x->n; k++)
			eq_usage(&out[k], x->spans[k].mib, x->spans[k].cpu, x->spans[k].cpus,
				 x->label, k);
	}
}

static void nothing_there(void)
{
	static const struct em_span two[] = { { 1, 2, 1 }, { 2, 1, -1 } };
	struct em_usage out[2] = { { 1, 1, 1 }, { 7, 7, 7 } };

	em_attribute(NULL, 0, 512 * MIB, two, 2, out);
	eq_usage(&out[0], NONE, NONE, NONE, "U-81 no marks", 0);
	eq_usage(&out[1], NONE, NONE, NONE, "U-81 no marks", 1);
	out[0].peak_rss_bytes = 7 * MIB;
	em_attribute(aged_1_10, COUNT(aged_1_10), -1, two, 0, out);
	EQ_I(out[0].peak_rss_bytes, 7 * MIB, "U-81 no spans: nothing is written");
}

/* Exits beside the samples of 1.10, at ages. */
static void with_exits(void)
{
	static const struct em_exit exits[] = {
		{ 1.14, 1.11, 600 * MIB, .15 }, /* 30 ms inside E1's third attempt */
		{ 5.9, .6, 750 * MIB, 2 },      /* the driver */
		{ 3.6, 3.4, 500 * MIB, .05 },   /* over a border */
		{ 2.5, 2.5, -1, -1 },           /* of which nothing is known */
	};
	static const struct em_span four[] = {
		{ 1, 5.8, 3.5 }, { 2, 3.5, 1.2 }, { 3, 1.15, 1.1 }, { 4, 1.05, -1 }
	};
	static const struct em_span only = { 1, 1.15, 1.1 };
	static const struct em_mark two[] = { { 4, -1, 0, -1 }, { 0, -1, 3.25, -1 } };
	static const struct em_span halves[] = { { 1, 4, 2 }, { 2, 2, -1 } };
	static const struct em_exit early = { 3.9, 3.8, 64 * MIB, .5 };
	struct em_usage out[4];

	em_attribute_exits(aged_1_10, COUNT(aged_1_10), 750 * MIB, exits, COUNT(exits), four, 4,
			   out);
	EQ_I(out[0].peak_rss_bytes, 300 * MIB, "U-130 over a border: raises neither, the first");
	EQ_I(out[1].peak_rss_bytes, 800 * MIB, "U-130 over a border: nor the second");
	EQ_I(out[2].peak_rss_bytes, 600 * MIB, "U-130 lived inside, 30 ms");
	EQ_I(out[3].peak_rss_bytes, 120 * MIB, "U-130 the driver raises none");
	/* Of the interval's 0.2 s 0.15 are its own, 0.05 linear over 1 s; 50 ms of that. */
	EQ_D(out[2].cpu_seconds, .15 + .05 * .05, TOL, "U-132 CPU counts where it lived");
	EQ_D(out[0].cpu_seconds + out[1].cpu_seconds, 3.52 + 4.96 - .2 * .8 + .05 * .8, TOL,
	     "U-132 and is taken from the rest of the interval");

	em_attribute_exits(aged_1_10, COUNT(aged_1_10), -1, exits, COUNT(exits), &only, 1, out);
	EQ_I(out[0].peak_rss_bytes, 750 * MIB, "U-130 the driver raises the only one");

	em_attribute_exits(two, 2, 512 * MIB, &early, 1, halves, 2, out);
	eq_usage(&out[0], 64, NONE, NONE, "U-86 no samples, two: a short process's peak", 0);
	eq_usage(&out[1], NONE, NONE, NONE, "U-86 no samples, two: nobody lived in", 1);
}

/* --- any run ------------------------------------------------------------------------------- */

#define EXITS_MAX 40

struct any {
	struct em_mark marks[EM_MAX_MARKS];
	size_t n;
	double life, now;
	int64_t upper; /* of every sample */
	struct em_exit exits[EXITS_MAX];
	size_t n_exits;
	int64_t largest; /* of the exits */
	double total;
};

static void any_run(struct any *a)
{
	size_t steps = random_below(3000);
	em_meter *m = em_meter_new(0, .25);
	double at = 0, cpu = 0;

	if (!m)
		exit(99);
	*a = (struct any){ .upper = -1, .largest = -1 };
	for (size_t i = 0; i < steps; i++) {
		int64_t rss = (int64_t)random_below(1000000);

		at += .25 + random_fraction() * (random_below(10) ? .01 : 3);
		cpu += random_fraction() * 4;
		if (random_below(8))
			em_meter_sample(m, rss, cpu, at);
		else
			em_meter_reading(m, rss, cpu, at);
		a->upper = rss > a->upper ? rss : a->upper;
	}
	a->life = at + random_fraction();
	a->total = cpu + random_fraction();
	em_meter_end(m, -1, a->total, a->life);
	a->now = a->life + random_fraction();
	a->n = em_meter_aged(m, a->now, a->marks, EM_MAX_MARKS);
	em_meter_free(m);
	a->n_exits = random_below(EXITS_MAX);
	for (size_t i = 0; i < a->n_exits; i++) {
		struct em_exit *x = &a->exits[i];
		double born = random_fraction() * a->life;
		double lived = random_fraction() * (random_below(2) ? .1 : a->life);

		x->started = a->now - born;
		x->ended = a->now - fmin(born + lived, a->life);
		x->peak_rss = (int64_t)random_below(2000000);
		x->cpu = random_fraction() * random_fraction() * 3;
		a->largest = x->peak_rss > a->largest ? x->peak_rss : a->largest;
	}
}

/* Cuts the whole life into at most @cap attempts side by side. */
static size_t cut(const struct any *a, struct em_span *spans, size_t cap)
{
	size_t n = 1 + random_below(cap);
	double from = a->now;

	for (size_t i = 0; i < n; i++) {
		double left = from - (a->now - a->life);

		spans[i] = (struct em_span){ (int64_t)i, from,
					     i + 1 == n ? -1 : from - left * random_fraction() };
		from = spans[i].ended;
	}
	return n;
}

static const char *broken(const struct any *a, bool exits, double *ret_off)
{
	struct em_span spans[12];
	struct em_usage out[12];
	size_t n = cut(a, spans, COUNT(spans)), none = 0;
	int64_t upper = a->upper, peak = -1;
	double sum = 0, cpus = -1;

	if (exits && a->largest > upper)
		upper = a->largest;
	em_attribute_exits(a->marks, a->n, -1, a->exits, exits ? a->n_exits : 0, spans, n, out);
	for (size_t i = 0; i < n; i++) {
		none += out[i].cpu_seconds < 0;
		sum += out[i].cpu_seconds;
		peak = out[i].peak_rss_bytes > peak ? out[i].peak_rss_bytes : peak;
		cpus = fmax(cpus, out[i].peak_cpus);
		if (out[i].peak_rss_bytes > upper)
			return "a peak above every sample and exit";
	}
	if (a->upper < 0)
		return n > 1 && none < n ? "U-80 CPU without a sample" : NULL;
	*ret_off = fabs(sum - a->total);
	if (none || *ret_off > TOL * fmax(1, a->total))
		return "U-72 the sum is not the total";
	if (peak < a->upper)
		return "U-70 the run's peak is nobody's";
	for (size_t i = 0; i < a->n; i++)
		if (a->marks[i].cpus > cpus)
			return "U-73 the busiest interval is nobody's";
	return NULL;
}

static void properties(void)
{
	static struct any a;

	for (int exits = 0; exits < 2; exits++) {
		const char *why = NULL;
		double off, most = 0;
		uint64_t from = 0;

		for (int i = 0; i < 400 && !why; i++) {
			off = 0;
			from = random_seed();
			any_run(&a);
			why = broken(&a, exits, &off);
			most = fmax(most, off);
		}
		EQ_S(why, NULL, "random runs%s (seed %llu): CPU is conserved, peaks are bounded",
		     exits ? " with exits" : "", (unsigned long long)from);
		printf("# largest difference %g s\n", most);
	}
}

/* U-70a: 20 minutes at 0.25 s are merged; a spike is within one mark interval. */
static void long_run(void)
{
	static struct em_mark marks[EM_MAX_MARKS];
	em_meter *m = em_meter_new(0, -1);
	double longest = 0;
	size_t n;

	if (!m)
		exit(99);
	for (int i = 1; i <= 4800; i++)
		em_meter_sample(m, i == 2403 ? 999 : 10, i * .1, i * .25);
	em_meter_end(m, -1, 480, 1200);
	n = em_meter_aged(m, 1200, marks, COUNT(marks));
	em_meter_free(m);
	for (size_t i = 1; i < n; i++)
		longest = fmax(longest, marks[i - 1].at - marks[i].at);
	OK(longest > .5 && longest <= 2, "U-70a marks of a long run are merged: %g s", longest);
	/* The spike is at 600.75 s: attempts whose border lies next to it. */
	for (int away = -3; away <= 3; away++) {
		double border = 1200 - (600.75 + away * longest);
		struct em_span two[] = { { 1, 1200, border }, { 2, border, -1 } };
		struct em_usage out[2];
		bool first;

		em_attribute(marks, n, -1, two, 2, out);
		first = out[0].peak_rss_bytes == 999;
		if (away < -1)
			OK(!first && out[1].peak_rss_bytes == 999,
			   "U-70a a spike after the border");
		else if (away > 1)
			OK(first && out[1].peak_rss_bytes == 10, "U-70a a spike before the border");
		else
			OK(first || out[1].peak_rss_bytes == 999, "U-70a near: one of them has it");
	}
}

int main(void)
{
	worked_examples();
	nothing_there();
	with_exits();
	long_run();
	properties();
	return tap_done();
}
