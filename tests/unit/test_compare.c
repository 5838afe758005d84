// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_compare - runs beside each other: medians, noise, and what differs
 */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"
#include "units.h"

static size_t figure(const char *name)
{
	for (size_t i = 0; i < compare_figures(); i++)
		if (!strcmp(compare_figure(i)->name, name))
			return i;
	return 0;
}

static size_t fact(const char *name)
{
	for (size_t i = 0; i < compare_facts(); i++)
		if (!strcmp(compare_fact(i), name))
			return i;
	return 0;
}

/* A run of @side that took @wall_s, on a machine with that kernel; NULL and -1 are not known. */
static void add(struct comparison *c, const char *journal, const char *side, double wall_s,
		const char *kernel)
{
	struct summary *s = summary_new();

	s->run.wall_ns = wall_s < 0 ? UNKNOWN : (int64_t)(wall_s * (double)NS_PER_S);
	if (kernel)
		s->env.kernel = strdup(kernel);
	if (side) {
		s->run.labels = calloc(1, sizeof(*s->run.labels));
		s->run.labels[0] = (struct label){ strdup("side"), strdup(side) };
		s->run.n_labels = 1;
	}
	EQ_I(comparison_add(c, journal, false, s), 0, "%s is taken", journal);
	summary_free(s);
}

static void test_medians(void)
{
	static const struct {
		const char *label;
		double a[4], b[4]; /* 0 ends them; below 0 is unknown */
		double median, by, share, noise;
		bool apart;
	} rows[] = {
		{ "one each", { 10 }, { 12 }, 12, 2, 0.2, NAN, false },
		{ "three each, apart", { 10, 11, 9 }, { 20, 22, 24 }, 22, 12, 1.2, 3, true },
		{ "lower, apart", { 20, 22 }, { 10, 12 }, 11, -10, -10 / 21.0, 2, true },
		{ "ranges overlap", { 10, 14 }, { 13, 17 }, 15, 3, 0.25, 4, false },
		{ "touching is not apart", { 10, 12 }, { 12, 14 }, 13, 2, 2 / 11.0, 2, false },
		{ "two and one", { 10, 12 }, { 20 }, 20, 9, 9 / 11.0, NAN, false },
		{ "even number", { 4 }, { 1, 2, 4, 5 }, 3, -1, -0.25, NAN, false },
		{ "one of them unknown", { 10, -1, 12 }, { 20, 22 }, 21, 10, 10 / 11.0, 2, true },
		{ "a side unknown", { 10 }, { -1 }, NAN, NAN, NAN, NAN, false },
	};
	size_t wall = figure("wall time");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comparison c = { .by = "side" };
		struct compare_value v;
		struct compare_difference d;
		const char *label = rows[i].label;

		for (size_t k = 0; k < 4 && rows[i].a[k] != 0; k++)
			add(&c, "a.journal", "a", rows[i].a[k], NULL);
		for (size_t k = 0; k < 4 && rows[i].b[k] != 0; k++)
			add(&c, "b.journal", "b", rows[i].b[k], NULL);
		EQ_I(c.n_sides, 2, "%s: sides", label);
		v = compare_value_of(&c, 1, wall);
		d = compare_difference_of(&c, 1, wall);
		if (isnan(rows[i].median)) {
			EQ_I(v.n, 0, "%s: nothing known", label);
			OK(isnan(d.by) && isnan(d.share), "%s: no difference is known", label);
		} else {
			EQ_D(v.median, rows[i].median, 1e-9, "%s: median", label);
			EQ_D(d.by, rows[i].by, 1e-9, "%s: difference", label);
			EQ_D(d.share, rows[i].share, 1e-9, "%s: share", label);
		}
		if (isnan(rows[i].noise))
			OK(isnan(d.noise), "%s: the noise is not known", label);
		else
			EQ_D(d.noise, rows[i].noise, 1e-9, "%s: noise", label);
		EQ_I(d.apart, rows[i].apart, "%s: apart", label);
		comparison_free(&c);
	}
}

static void test_sides(void)
{
	struct comparison c = { 0 };

	add(&c, "one", "a", 1, "6.1");
	add(&c, "two", "a", 1, "6.1");
	EQ_I(c.n_sides, 2, "without a label to go by each is a side");
	EQ_S(c.sides[1].name, "two", "of its journal's name");
	comparison_free(&c);

	c.by = "side";
	add(&c, "one", "a", 1, "6.1");
	add(&c, "two", NULL, 1, "6.1");
	add(&c, "a", NULL, 1, "6.1");
	add(&c, "four", "a", 1, "6.1");
	EQ_I(c.n_sides, 3, "those without the label are sides by themselves");
	EQ_I(c.sides[0].runs, 2, "repeats");
	EQ_I(c.runs[3].side, 0, "the last belongs to the first");
	comparison_free(&c);
}

static void test_facts(void)
{
	struct comparison c = { .by = "side" };
	size_t kernel = fact("kernel");
	char text[64];

	add(&c, "1", "a", 1, "6.1");
	add(&c, "2", "a", 1, "6.1");
	OK(!compare_fact_differs(&c, kernel), "the same kernel");
	OK(!compare_fact_differs(&c, fact("memory")), "unknown of both differs not");
	add(&c, "3", "b", 1, "6.12");
	OK(compare_fact_differs(&c, kernel), "another kernel");
	add(&c, "4", "b", 1, NULL);
	compare_fact_text(&c, 0, kernel, text, sizeof(text));
	EQ_S(text, "6.1", "said once");
	compare_fact_text(&c, 1, kernel, text, sizeof(text));
	EQ_S(text, "6.12, unknown", "all that the runs of a side say");
	compare_fact_text(&c, 1, kernel, text, 5);
	EQ_S(text, "6.12", "cut where there is no room");
	comparison_free(&c);
}

int main(void)
{
	test_medians();
	test_sides();
	test_facts();
	return tap_done();
}
