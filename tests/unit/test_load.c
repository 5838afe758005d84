// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_load - a run's verdict and its worst window from readings (SPEC 2.5)
 */
#include <math.h>
#include <stdlib.h>

#include "model/load.h"
#include "procfs/reading.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS       NS_PER_MS
#define START    (1000 * NS_PER_S)

/* @at after the run's start; all in ms, UNKNOWN stays. */
static struct load_reading reading(int64_t at, int64_t busy, int64_t steal, int64_t self,
				   int64_t tree)
{
	return (struct load_reading){ START + at * MS, busy < 0 ? UNKNOWN : busy * MS,
				      steal < 0 ? UNKNOWN : steal * MS,
				      self < 0 ? UNKNOWN : self * MS,
				      tree < 0 ? UNKNOWN : tree * MS };
}

static const struct judge_row {
	const char *label;
	int64_t first[5], last[5], window;
	enum em_host verdict;
	double foreign, threshold;
	const char *reason;
	int64_t own, steal, told_window;
} judged[] = {
	{ "H-4 tree and exitmeter are own",
	  { 0, 5000, 0, 10, 0 },
	  { 2000, 8000, 0, 510, 2000 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  0.25,
	  1.01,
	  NULL,
	  2500,
	  0,
	  2000 },
	{ "a co-tenant",
	  { 0, 5000, 0, 0, 0 },
	  { 2000, 10000, 0, 0, 2000 },
	  UNKNOWN,
	  EM_HOST_COTENANT,
	  1.5,
	  1.01,
	  NULL,
	  2000,
	  0,
	  2000 },
	{ "H-3 stolen time is beside it",
	  { 0, 5000, 100, 0, 0 },
	  { 2000, 5000, 4100, 0, 0 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  0,
	  1.01,
	  NULL,
	  0,
	  4000,
	  2000 },
	{ "stolen time that is not known",
	  { 0, 5000, -1, 0, 0 },
	  { 2000, 5000, 7, 0, 0 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  0,
	  1.01,
	  NULL,
	  0,
	  UNKNOWN,
	  2000 },
	{ "stolen time that went back",
	  { 0, 5000, 9, 0, 0 },
	  { 2000, 5000, 7, 0, 0 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  0,
	  1.01,
	  NULL,
	  0,
	  UNKNOWN,
	  2000 },
	{ "H-23 below 0",
	  { 0, 0, 0, 0, 0 },
	  { 1000, 0, 0, 0, 20 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  -0.02,
	  1.02,
	  NULL,
	  20,
	  0,
	  1000 },
	{ "H-24 padded",
	  { 0, 0, 0, 0, 0 },
	  { 500, 80, 0, 0, 0 },
	  50,
	  EM_HOST_COTENANT,
	  1.6,
	  1.4,
	  NULL,
	  0,
	  0,
	  50 },
	{ "a window as long as the span",
	  { 0, 0, 0, 0, 0 },
	  { 500, 80, 0, 0, 0 },
	  500,
	  EM_HOST_QUIET,
	  0.16,
	  1.04,
	  NULL,
	  0,
	  0,
	  500 },
	{ "a window longer than it",
	  { 0, 0, 0, 0, 0 },
	  { 500, 80, 0, 0, 0 },
	  501,
	  EM_HOST_QUIET,
	  0.16,
	  1.04,
	  NULL,
	  0,
	  0,
	  500 },
	{ "H-30a the shortest span",
	  { 0, 0, 0, 0, 0 },
	  { 100, 50, 0, 0, 0 },
	  UNKNOWN,
	  EM_HOST_QUIET,
	  0.5,
	  1.2,
	  NULL,
	  0,
	  0,
	  100 },
	{ "H-30a a shorter one",
	  { 0, 0, 0, 0, 0 },
	  { 99, 500, 3, 0, 1 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "short-span",
	  1,
	  3,
	  99 },
	{ "H-25 no time",
	  { 5, 0, 0, 0, 0 },
	  { 5, 500, 0, 0, 0 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "empty-span",
	  0,
	  0,
	  0 },
	{ "H-25 no counter",
	  { 0, -1, -1, 0, 0 },
	  { 500, -1, -1, 0, 0 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "no-counter",
	  0,
	  UNKNOWN,
	  500 },
	{ "H-25 none at the end",
	  { 0, 10, 0, 0, 0 },
	  { 500, -1, 0, 0, 0 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "no-counter",
	  0,
	  0,
	  500 },
	{ "H-25 busy went back",
	  { 0, 10, 0, 0, 0 },
	  { 500, 9, 0, 0, 0 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "counter-went-back",
	  0,
	  0,
	  500 },
	{ "H-25 the tree went back",
	  { 0, 10, 0, 0, 5 },
	  { 500, 11, 0, 0, 4 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "counter-went-back",
	  UNKNOWN,
	  0,
	  500 },
	{ "H-25 we went back",
	  { 0, 10, 0, 5, 0 },
	  { 500, 11, 0, 4, 0 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "counter-went-back",
	  UNKNOWN,
	  0,
	  500 },
	{ "the tree's time is not known",
	  { 0, 10, 0, 0, 0 },
	  { 500, 900, 0, 0, -1 },
	  UNKNOWN,
	  EM_HOST_UNAVAILABLE,
	  NAN,
	  NAN,
	  "own-time-unknown",
	  UNKNOWN,
	  0,
	  500 },
};

static struct load_reading of_row(const int64_t v[5])
{
	return reading(v[0], v[1], v[2], v[3], v[4]);
}

static void near(double got, double want, const char *label, const char *what)
{
	if (isnan(want))
		OK(isnan(got), "%s: %s is not known", label, what);
	else
		EQ_D(got, want, 1e-9, "%s: %s", label, what);
}

static void test_judge(void)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		const struct judge_row *r = &judged[i];
		struct load_reading first = of_row(r->first), last = of_row(r->last);
		int64_t window = r->window < 0 ? UNKNOWN : r->window * MS;
		struct host_load h;

		EQ_I(load_judge(&first, &last, window, &h), 0, "%s: judged", r->label);
		EQ_S(em_host_name((int)h.verdict), em_host_name((int)r->verdict), "%s: verdict",
		     r->label);
		near(h.foreign_cores, r->foreign, r->label, "foreign");
		near(h.threshold_cores, r->threshold, r->label, "threshold");
		EQ_S(h.reason, r->reason, "%s: reason", r->label);
		EQ_I(h.span_ns, (r->last[0] - r->first[0]) * MS, "%s: span", r->label);
		EQ_I(h.window_ns, r->told_window * MS, "%s: window", r->label);
		EQ_I(h.own_ns, r->own < 0 ? UNKNOWN : r->own * MS, "%s: own", r->label);
		EQ_I(h.steal_ns, r->steal < 0 ? UNKNOWN : r->steal * MS, "%s: stolen", r->label);
		EQ_I(h.worst.span_ns, 0, "%s: no window of it", r->label);
		host_load_free(&h);
	}
}

/* @busy and @tree at each quarter of a second; then the end. */
static struct host_load fold(const int64_t (*at)[3], size_t n, bool journal)
{
	struct load_watch w = { .begun = false };
	struct load_reading last = reading(at[n - 1][0], at[n - 1][1], 0, 0, at[n - 1][2]);
	struct host_load h;

	for (size_t i = 0; i + 1 < n; i++) {
		struct load_reading r = reading(at[i][0], at[i][1], 0, 0, at[i][2]);
		struct load_sample s = { .at_ns = at[i][0] * MS,
					 .busy_ns = r.busy_ns,
					 .own_ns = r.tree_ns,
					 .steal_ns = 0,
					 .foreign_cores = NAN };

		if (!journal)
			load_on_reading(&w, &r, START);
		else if (i)
			load_on_sample(&w, &s);
	}
	last.at_ns -= journal ? START : 0;
	if (load_finish(&w, &last, UNKNOWN, journal ? 0 : START, &h))
		exit(99);
	return h;
}

static const struct worst_row {
	const char *label;
	int64_t at[8][3];
	size_t n;
	int64_t worst_at, worst_ms; /* 0: none */
	double foreign;
	enum em_host verdict, whole;
} worsts[] = {
	{ "H-31 a burst that the run dilutes",
	  { { 0, 0, 0 }, { 250, 0, 0 }, { 500, 500, 0 }, { 750, 500, 0 }, { 1000, 500, 0 } },
	  5,
	  250,
	  250,
	  2,
	  EM_HOST_COTENANT,
	  EM_HOST_QUIET },
	{ "the tree's own burst is none",
	  { { 0, 0, 0 }, { 250, 0, 0 }, { 500, 500, 490 }, { 750, 500, 490 } },
	  4,
	  250,
	  250,
	  0.04,
	  EM_HOST_QUIET,
	  EM_HOST_QUIET },
	{ "the first of two alike",
	  { { 0, 0, 0 }, { 250, 125, 0 }, { 500, 250, 0 }, { 750, 250, 0 } },
	  4,
	  0,
	  250,
	  0.5,
	  EM_HOST_QUIET,
	  EM_HOST_QUIET },
	{ "the end closes one too",
	  { { 0, 0, 0 }, { 250, 25, 0 }, { 500, 425, 0 } },
	  3,
	  250,
	  250,
	  1.6,
	  EM_HOST_COTENANT,
	  EM_HOST_QUIET },
	{ "an end too soon after",
	  { { 0, 0, 0 }, { 250, 25, 0 }, { 349, 425, 0 } },
	  3,
	  0,
	  250,
	  0.1,
	  EM_HOST_QUIET,
	  EM_HOST_COTENANT },
	{ "without samples the run is the window",
	  { { 0, 0, 0 }, { 400, 200, 0 } },
	  2,
	  0,
	  400,
	  0.5,
	  EM_HOST_QUIET,
	  EM_HOST_QUIET },
	{ "shorter than any window",
	  { { 0, 0, 0 }, { 99, 200, 0 } },
	  2,
	  0,
	  0,
	  0,
	  EM_HOST_UNAVAILABLE,
	  EM_HOST_UNAVAILABLE },
	{ "one that cannot be judged is passed over",
	  { { 0, 0, 0 }, { 250, 900, -1 }, { 500, 950, 0 }, { 750, 1000, 0 } },
	  4,
	  500,
	  250,
	  0.2,
	  EM_HOST_QUIET,
	  EM_HOST_COTENANT },
	{ "all below 0",
	  { { 0, 0, 0 }, { 250, 0, 20 }, { 500, 0, 30 } },
	  3,
	  250,
	  250,
	  -0.04,
	  EM_HOST_QUIET,
	  EM_HOST_QUIET },
};

static void test_worst(bool journal)
{
	const char *by = journal ? "from the journal" : "live";

	for (size_t i = 0; i < COUNT(worsts); i++) {
		const struct worst_row *r = &worsts[i];
		struct host_load h;

		if (journal && r->n == 2) /* no sample: nothing of it is in the journal */
			continue;
		h = fold(r->at, r->n, journal);
		EQ_S(em_host_name((int)h.verdict), em_host_name((int)r->whole), "%s, %s: run",
		     r->label, by);
		EQ_I(h.worst.span_ns, r->worst_ms * MS, "%s, %s: length", r->label, by);
		if (r->worst_ms) {
			EQ_I(h.worst.at_ns, r->worst_at * MS, "%s, %s: when", r->label, by);
			EQ_D(h.worst.foreign_cores, r->foreign, 1e-9, "%s, %s: foreign", r->label,
			     by);
			EQ_S(em_host_name((int)h.worst.verdict), em_host_name((int)r->verdict),
			     "%s, %s: its verdict", r->label, by);
		}
		host_load_free(&h);
	}
}

static void test_nothing(void)
{
	const struct load_watch w = { .begun = false };
	struct load_reading last = reading(500, 1, 1, 1, 1);
	struct host_load h;

	EQ_I(load_finish(&w, &last, UNKNOWN, START, &h), 0, "never begun: no error");
	EQ_I(h.verdict, EM_HOST_UNAVAILABLE, "never begun: no verdict");
	OK(h.span_ns == UNKNOWN && h.busy_ns == UNKNOWN && isnan(h.foreign_cores) && !h.reason,
	   "never begun: nothing is known");
	EQ_I(LOAD_MIN_SPAN_NS, (int64_t)(EM_MIN_SPAN_SECONDS * 1e9), "one shortest span");
}

int main(void)
{
	test_judge();
	test_worst(false);
	test_worst(true);
	test_nothing();
	return tap_done();
}
