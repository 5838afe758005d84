// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_meter - SPEC 1.2 (U-10 to U-14) and 1.5 to 1.7
 */
#include "lib/meter.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "random.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TOL      1e-9

/* Lets the out-of-memory case return under AddressSanitizer, too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void start(struct em_meter *m, size_t cap)
{
	if (em_meter_init(m, 0, EM_MIN_SAMPLE_SECONDS, cap) != 0)
		exit(99);
}

static void eq_marks(const struct em_meter *m, const struct em_mark *want, size_t n,
		     const char *label)
{
	EQ_I(m->n, n, "%s: marks", label);
	for (size_t i = 0; i < n && i < m->n; i++) {
		EQ_D(m->marks[i].at, want[i].at, TOL, "%s: mark %zu at", label, i);
		EQ_I(m->marks[i].rss, want[i].rss, "%s: mark %zu rss", label, i);
		EQ_D(m->marks[i].cpu, want[i].cpu, TOL, "%s: mark %zu cpu", label, i);
		EQ_D(m->marks[i].cpus, want[i].cpus, TOL, "%s: mark %zu cpus", label, i);
	}
}

/* The worked example of SPEC 1.6, capacity 8. */
#define START                \
	{                    \
		0, -1, 0, -1 \
	}
#define PAIRS                                \
	{ 2, 20, 1, .5 }, { 4, 999, 2, .5 }, \
	{                                    \
		6, 60, 4, 1.5                \
	}
#define TO_8                \
	START, PAIRS,       \
	{                   \
		8, 80, 4, 0 \
	}
#define TO_12                     \
	TO_8, { 10, 100, 5, .5 }, \
	{                         \
		12, 120, 6, .5    \
	}
#define ONE_TO_SIX                                                                         \
	START, { 1, 10, .5, .5 }, { 2, 20, 1, .5 }, { 3, 30, 1.5, .5 }, { 4, 999, 2, .5 }, \
		{ 5, 50, 2.5, .5 },                                                        \
	{                                                                                  \
		6, 60, 4, 1.5                                                              \
	}

static const struct {
	const char *label;
	int samples; /* 0: the end */
	size_t n;
	uint32_t stride;
	struct em_mark marks[8];
} trace[] = {
	{ "U-45 before any sample", -1, 1, 1, { START } },
	{ "1.6 t=1", 1, 2, 1, { START, { 1, 10, .5, .5 } } },
	{ "1.6 t=2", 2, 3, 1, { START, { 1, 10, .5, .5 }, { 2, 20, 1, .5 } } },
	{ "1.6 t=6", 6, 7, 1, { ONE_TO_SIX } },
	{ "1.6 t=7, U-51, U-14", 7, 5, 2, { START, PAIRS, { 7, 70, 4, 0 } } },
	{ "1.6 t=8 folded", 8, 5, 2, { TO_8 } },
	{ "1.6 t=9", 9, 6, 2, { TO_8, { 9, 90, 4.5, .5 } } },
	{ "1.6 t=10 folded", 10, 6, 2, { TO_8, { 10, 100, 5, .5 } } },
	{ "1.6 t=11", 11, 7, 2, { TO_8, { 10, 100, 5, .5 }, { 11, 110, 5.5, .5 } } },
	{ "1.6 t=12 folded", 12, 7, 2, { TO_12 } },
	{ "1.6 end, U-47, U-53", 0, 8, 2, { TO_12, { 12.2, -1, 7, -1 } } },
};

static void worked_example(void)
{
	struct em_meter m;
	int t = 0;

	start(&m, 8);
	for (size_t i = 0; i < COUNT(trace); i++) {
		while (t < trace[i].samples) {
			t++;
			em_meter_sample(&m, t == 4 ? 999 : 10 * t, t == 6 ? 4.0 : .5 * t, t);
		}
		if (trace[i].samples == 0)
			em_meter_end(&m, 50, 7.0, 12.2);
		else
			EQ_I(m.max_rss, -1, "%s: U-44 max_rss before the end", trace[i].label);
		EQ_I(m.stride, trace[i].stride, "%s: stride", trace[i].label);
		eq_marks(&m, trace[i].marks, trace[i].n, trace[i].label);
	}
	EQ_I(m.max_rss, 50, "U-44 max_rss after the end");
	EQ_D(em_meter_peak_cpus(&m), 1.5, TOL, "peak cpus survive merging");
	em_meter_clear(&m);
}

static const struct {
	const char *label;
	int samples;
	size_t n;
	uint32_t stride;
} capacities[] = {
	{ "U-50 1022 samples", 1022, 1023, 1 },
	{ "U-55 1023 samples", 1023, 513, 2 },
	{ "U-55 2044 samples", 2044, 1023, 2 },
	{ "U-55 2045 samples", 2045, 513, 4 },
};

static void full_size(void)
{
	struct em_meter m;
	double longest = 0;

	for (size_t i = 0; i < COUNT(capacities); i++) {
		start(&m, EM_MAX_MARKS);
		for (int k = 1; k <= capacities[i].samples; k++)
			em_meter_sample(&m, 1, k * .1, k * .25);
		EQ_I(m.n, capacities[i].n, "%s: marks", capacities[i].label);
		EQ_I(m.stride, capacities[i].stride, "%s: stride", capacities[i].label);
		em_meter_end(&m, 1, 1e6, 1e6);
		EQ_I(m.n, capacities[i].n + 1, "%s: and the end, never merged",
		     capacities[i].label);
		em_meter_clear(&m);
	}

	start(&m, EM_MAX_MARKS);
	for (int k = 1; k <= 200000; k++)
		em_meter_sample(&m, k % 977, k * .1, k * .25);
	em_meter_end(&m, 1, 2e4, 50000.5);
	for (size_t i = 1; i < m.n; i++)
		longest = fmax(longest, m.marks[i].at - m.marks[i - 1].at);
	EQ_I(m.n, 784, "U-54 200,000 samples: marks");
	EQ_D(longest, 64, 0, "U-54 200,000 samples: the longest, in seconds");
	EQ_D(m.marks[m.n - 1].cpu, 2e4, 0, "U-52 200,000 samples: the total");
	em_meter_clear(&m);
}

/* Calls of one meter with min_sample_s = 0.25, started at 0. */
static const struct {
	const char *label;
	struct step {
		char call; /* s(ample), d(ropped sample), r(eading), e(nd) */
		int64_t rss;
		double cpu, now;
	} steps[6];
	size_t n;
	struct em_mark marks[7];
} cases[] = {
	{ "U-10 the first sample may be early, without cpus",
	  { { 's', 5, .04, .05 } },
	  2,
	  { START, { .05, 5, .04, -1 } } },
	{ "U-10 the second may not",
	  { { 's', 5, .04, .05 }, { 'd', 6, .05, .2 }, { 's', 7, .29, .3 } },
	  3,
	  { START, { .05, 5, .04, -1 }, { .3, 7, .29, 1 } } },
	{ "U-10 a dropped sample moves nothing",
	  { { 's', 5, 1, 1 }, { 'd', 9, 1.2, 1.2 }, { 's', 5, 2, 2 } },
	  3,
	  { START, { 1, 5, 1, 1 }, { 2, 5, 2, 1 } } },
	{ "U-10 exactly 0.25 s later, but for rounding",
	  { { 's', 5, 0, .1 }, { 's', 6, .5, .35 - 1e-12 } },
	  3,
	  { START, { .1, 5, 0, -1 }, { .35, 6, .5, 2 } } },
	{ "U-13 the first sample counts from the start",
	  { { 's', 5, 1, .5 } },
	  2,
	  { START, { .5, 5, 1, 2 } } },
	{ "U-10 a reading soon after a sample has no cpus and is kept",
	  { { 's', 5, 1, 1 }, { 'r', 9, 1.5, 1.1 }, { 's', 6, 2, 1.25 } },
	  4,
	  { START, { 1, 5, 1, 1 }, { 1.1, 9, 1.5, -1 }, { 1.25, 6, 2, 4 } } },
	{ "U-10 a late reading has cpus and does not move the grid",
	  { { 's', 5, 1, 1 }, { 'r', 9, 2, 1.5 }, { 's', 6, 3, 2 } },
	  4,
	  { START, { 1, 5, 1, 1 }, { 1.5, 9, 2, 2 }, { 2, 6, 3, 2 } } },
	{ "U-10 a reading is not the first sample",
	  { { 'r', 9, .1, .1 }, { 's', 6, .2, .2 } },
	  3,
	  { START, { .1, 9, .1, -1 }, { .2, 6, .2, -1 } } },
	{ "U-14 a lower sample is raised",
	  { { 's', 5, 4, 1 }, { 's', 6, 3.5, 2 }, { 's', 7, 5, 3 } },
	  4,
	  { START, { 1, 5, 4, 4 }, { 2, 6, 4, 0 }, { 3, 7, 5, 1 } } },
	{ "U-14 a lower reading is raised",
	  { { 's', 5, 4, 1 }, { 'r', 6, 3, 1.5 } },
	  3,
	  { START, { 1, 5, 4, 4 }, { 1.5, 6, 4, 0 } } },
	{ "U-14 a sample lower than a reading before is raised",
	  { { 's', 5, 1, 1 }, { 'r', 6, 3, 1.5 }, { 's', 7, 2, 2 } },
	  4,
	  { START, { 1, 5, 1, 1 }, { 1.5, 6, 3, 4 }, { 2, 7, 3, 2 } } },
	{ "U-14 a lower end is raised",
	  { { 's', 5, 4, 1 }, { 'e', 50, 3, 1.1 } },
	  3,
	  { START, { 1, 5, 4, 4 }, { 1.1, -1, 4, -1 } } },
	{ "U-44 an end without wait4's word",
	  { { 'r', 5, 4, 1 }, { 'e', -1, -1, 2 } },
	  3,
	  { START, { 1, 5, 4, 4 }, { 2, -1, 4, -1 } } },
	{ "U-48 the end has no cpus, however late",
	  { { 'e', 50, 9, 3 } },
	  2,
	  { START, { 3, -1, 9, -1 } } },
	{ "U-48 the end may come at once",
	  { { 's', 5, 1, 1 }, { 'e', 50, 2, 1 } },
	  3,
	  { START, { 1, 5, 1, 1 }, { 1, -1, 2, -1 } } },
	{ "U-49 nothing after the end",
	  { { 's', 5, 1, 1 },
	    { 'e', 50, 2, 2 },
	    { 'd', 9, 9, 9 },
	    { 'r', 9, 9, 9 },
	    { 'e', 9, 9, 9 } },
	  3,
	  { START, { 1, 5, 1, 1 }, { 2, -1, 2, -1 } } },
	{ "0.3 a sample without a known rss",
	  { { 's', -1, 1, 1 } },
	  2,
	  { START, { 1, -1, 1, 1 } } },
	{ "a clock that went back: times do not",
	  { { 's', 5, 1, 1 }, { 'r', 6, 1, .9 }, { 'e', 50, 2, .8 } },
	  4,
	  { START, { 1, 5, 1, 1 }, { 1, 6, 1, -1 }, { 1, -1, 2, -1 } } },
	{ "CPU that is not a number is raised",
	  { { 's', 5, 1, 1 }, { 's', 5, NAN, 2 } },
	  3,
	  { START, { 1, 5, 1, 1 }, { 2, 5, 1, 0 } } },
};

static void single_calls(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct em_meter m;

		start(&m, 8);
		for (const struct step *s = cases[i].steps; s->call; s++) {
			if (s->call == 'r')
				em_meter_reading(&m, s->rss, s->cpu, s->now);
			else if (s->call == 'e')
				em_meter_end(&m, s->rss, s->cpu, s->now);
			else
				EQ_I(em_meter_sample(&m, s->rss, s->cpu, s->now), s->call == 's',
				     "%s: sample at %g kept", cases[i].label, s->now);
		}
		eq_marks(&m, cases[i].marks, cases[i].n, cases[i].label);
		if (m.ended)
			OK(m.max_rss == 50 || m.max_rss == -1, "%s: max_rss", cases[i].label);
		em_meter_clear(&m);
	}
}

static void reading_folds(void)
{
	static const struct em_mark want[] = { TO_8 };
	struct em_meter m;

	start(&m, 8);
	for (int t = 1; t <= 7; t++)
		em_meter_sample(&m, t == 4 ? 999 : 10 * t, t == 6 ? 4.0 : .5 * t, t);
	em_meter_reading(&m, 80, 4, 8);
	eq_marks(&m, want, COUNT(want), "U-55 a reading is folded into the tail");
	em_meter_clear(&m);
}

static void ageing(void)
{
	struct em_mark out[4] = { { 0, 0, 0, 0 } };
	struct em_meter m;

	start(&m, 8);
	em_meter_sample(&m, 5, 1, 1);
	em_meter_end(&m, 50, 2, 3);
	EQ_I(em_meter_aged(&m, 2.5, out, COUNT(out)), 3, "U-60 all marks");
	EQ_D(out[0].at, 2.5, 0, "U-60 oldest first");
	EQ_D(out[1].at, 1.5, 0, "U-60 age of a sample");
	EQ_I(out[1].rss, 5, "U-60 rss as it was");
	EQ_D(out[1].cpu, 1, 0, "U-60 cpu as it was");
	EQ_D(out[1].cpus, 1, 0, "U-60 cpus as they were");
	EQ_D(out[2].at, -.5, 0, "U-62 a negative age is kept");
	out[1].at = 77;
	EQ_I(em_meter_aged(&m, 2.5, out, 1), 1, "less room: the oldest");
	EQ_D(out[1].at, 77, 0, "less room: nothing behind it");
	em_meter_clear(&m);
}

static void odd_inputs(void)
{
	struct em_meter m;

	EQ_I(em_meter_init(&m, 0, .25, SIZE_MAX / 64), -ENOMEM, "out of memory");
	em_meter_clear(&m);
	em_meter_clear(NULL);
	OK(1, "free after a failed init, and of nothing");

	start(&m, 1);
	OK(m.cap == 4, "too small a capacity becomes 4");
	em_meter_clear(&m);

	EQ_I(em_meter_init(&m, 5, 0, 8), 0, "no least time");
	EQ_D(em_meter_peak_cpus(&m), -1, 0, "no sample: no peak cpus");
	OK(em_meter_sample(&m, 1, 1, 5) && em_meter_sample(&m, 1, 2, 5),
	   "no least time: both kept");
	EQ_D(em_meter_peak_cpus(&m), -1, 0, "no least time: no division by zero seconds");
	em_meter_clear(&m);
}

/* What the invariants of 1.6 are held against: every sample, remembered outside. */
struct ledger {
	double last_at, last_cpu, gap, peak_cpus; /* of the grid, and of all that was kept */
	double tail_at, tail_cpu;
	int64_t rss;
};

static void ledger_add(struct ledger *l, bool sample, int64_t rss, double cpu, double now)
{
	l->tail_cpu = fmax(l->tail_cpu, cpu);
	l->gap = fmax(l->gap, now - l->tail_at);
	l->tail_at = now;
	if (now - l->last_at >= EM_MIN_SAMPLE_SECONDS - 1e-9)
		l->peak_cpus = fmax(l->peak_cpus, (l->tail_cpu - l->last_cpu) / (now - l->last_at));
	if (rss > l->rss)
		l->rss = rss;
	if (sample) {
		l->last_at = now;
		l->last_cpu = l->tail_cpu;
	}
}

static const char *broken(const struct em_meter *m, const struct ledger *l)
{
	const struct em_mark *mark = m->marks;
	size_t in_marks = m->n - m->ended;
	int64_t rss = -1;

	if (m->n > m->cap || in_marks > m->cap - 1)
		return "U-53 n";
	if (mark->at != 0 || mark->rss != -1 || mark->cpu != 0 || mark->cpus != -1)
		return "U-53 the start";
	for (size_t i = 1; i < m->n; i++) {
		if (mark[i].at < mark[i - 1].at || mark[i].cpu < mark[i - 1].cpu)
			return "at and cpu non-decreasing";
		if (i < in_marks && mark[i].at - mark[i - 1].at > 2 * m->stride * l->gap + TOL)
			return "U-54 longest interval";
		if (i < in_marks && (m->samples[i] < 1 || m->samples[i] > m->stride))
			return "U-55 samples in a mark";
		rss = mark[i].rss > rss ? mark[i].rss : rss;
	}
	if (rss != l->rss)
		return "U-52 largest rss";
	if (em_meter_peak_cpus(m) != l->peak_cpus)
		return "U-52 largest cpus";
	if (mark[m->n - 1].cpu != l->tail_cpu || mark[m->n - 1].at != l->tail_at)
		return "U-52 last total";
	return NULL;
}

static const char *random_run(size_t cap, int calls)
{
	struct ledger l = { .peak_cpus = -1, .rss = -1 };
	const char *why = NULL;
	double now = 0, cpu = 0;
	struct em_meter m;

	start(&m, cap);
	for (int i = 0; i < calls && !why; i++) {
		int64_t rss = (int64_t)(random_next() % 1000000) - 1;
		bool sample = random_next() % 8 != 0;

		now += random_next() % 4 ? .25 + random_fraction()
					 : random_fraction() * random_fraction();
		cpu += random_next() % 3 ? random_fraction() * 4
					 : -random_fraction(); /* U-14; equal now and then */
		if (random_next() % 16 == 0)
			rss = l.rss;
		if (!sample)
			em_meter_reading(&m, rss, cpu, now);
		else if (!em_meter_sample(&m, rss, cpu, now))
			continue;
		ledger_add(&l, sample, rss, cpu, now);
		why = broken(&m, &l);
	}
	if (!why) {
		now += random_fraction();
		em_meter_end(&m, 1, cpu, now);
		l.tail_cpu = fmax(l.tail_cpu, cpu);
		l.tail_at = now;
		why = broken(&m, &l);
	}
	em_meter_clear(&m);
	return why;
}

static void invariants(void)
{
	static const size_t caps[] = { 4, 5, 6, 7, 8, 9, 16, 33, 100, EM_MAX_MARKS };

	for (size_t c = 0; c < COUNT(caps); c++) {
		const char *why = NULL;
		uint64_t from = random_seed();

		for (int run = 0; run < 40 && !why; run++) {
			from = random_seed();
			why = random_run(caps[c], (int)(random_next() %
							(8 * (caps[c] < 200 ? caps[c] : 400))));
		}
		EQ_S(why, NULL, "1.6 invariants, capacity %zu (seed %llu)", caps[c],
		     (unsigned long long)from);
	}
}

/* A look that could not tell the CPU is no look at an idle tree. */
static void unknown_cpu(void)
{
	em_meter *m = em_meter_new(0, 0.25);
	em_mark marks[8];

	OK(em_meter_sample(m, 10, 1, 1), "known");
	em_meter_memory(m, 30, 2);
	OK(em_meter_sample(m, 20, 4, 3), "known again");
	EQ_I(em_meter_aged(m, 3, marks, 8), 4, "marks");
	EQ_I(marks[2].rss, 30, "what was resident");
	EQ_D(marks[2].cpus, -1, 0, "its cores are not known");
	EQ_D(marks[3].cpus, 1.5, 1e-9, "the next one's are of both intervals");
	EQ_D(em_meter_peak_cpus(m), 1.5, 1e-9, "the most");
	em_meter_free(m);
}

int main(void)
{
	unknown_cpu();
	worked_example();
	full_size();
	single_calls();
	reading_folds();
	ageing();
	odd_inputs();
	invariants();
	return tap_done();
}
