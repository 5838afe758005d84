/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - several runs beside each other: in what they were made, and how far they differ
 *
 * A side is one run, or several that are repeats of one another: they are of one journal, or bear
 * the same value of one label.  Of a side the median counts; how far its runs lie apart is the
 * noise.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "model/summary.h"

enum compare_unit {
	COMPARE_BYTES,
	COMPARE_SECONDS,
	COMPARE_CORES,
	COMPARE_COUNT,
};

#define COMPARE_FIGURES_MAX 24
#define COMPARE_FACTS_MAX   24

struct compare_figure {
	const char *name;
	const char *key; /* as in the summary */
	enum compare_unit unit;
};

struct compare_run {
	char *name; /* of its journal */
	size_t side;
	double figures[COMPARE_FIGURES_MAX]; /* NaN: unknown */
	char *facts[COMPARE_FACTS_MAX];      /* NULL: unknown */
	struct em_mark *marks;               /* at: seconds since its start */
	size_t n_marks;
};

struct compare_side {
	char *name;
	size_t runs;
};

struct comparison {
	struct compare_run *runs;
	size_t n_runs;
	struct compare_side *sides; /* in the order they came */
	size_t n_sides;
	bool without_marks;
	const char *by; /* the label; NULL: each journal is a side */
};

/* Of the runs of a side that know it. */
struct compare_value {
	double median, least, most;
	double deviation; /* the median of what each is off the median */
	size_t n;         /* 0: it is unknown */
};

/* Of a side against the first one. */
struct compare_difference {
	double by;    /* NaN: of one it is unknown */
	double share; /* of the first side's; NaN where that is 0 */
	double noise; /* half of what the runs of each side lie apart, added up; NaN: one run only
		       */
	bool apart;   /* all runs of the one lie above all of the other */
};

size_t compare_figures(void);
const struct compare_figure *compare_figure(size_t figure);
/* The one of that key, which there is. */
size_t compare_figure_of(const char *key);
size_t compare_facts(void);
const char *compare_fact(size_t fact); /* its name */
size_t compare_fact_of(const char *name);

/* @again: another run of the journal that was added last.  0 or -ENOMEM; comparison_free in any
 * case. */
int comparison_add(struct comparison *c, const char *journal, bool again, const struct summary *s);
void comparison_free(struct comparison *c);

struct compare_value compare_value_of(const struct comparison *c, size_t side, size_t figure);
struct compare_difference compare_difference_of(const struct comparison *c, size_t side,
						size_t figure);
/* Whether two runs, of any side, were made under another value of @fact. */
bool compare_fact_differs(const struct comparison *c, size_t fact);
/* What a side's runs say of it: its distinct values, with ", " between; "unknown". */
void compare_fact_text(const struct comparison *c, size_t side, size_t fact, char *buf, size_t cap);

#endif /* COMPARE_H */
