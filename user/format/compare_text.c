// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare_text - a comparison for a terminal, and as Markdown
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/comparison.h"
#include "format/markdown.h"
#include "report/compare_units.h"
#include "report/gather.h"
#include "units.h"

#define LINE     "exitmeter: "
#define CELL_MAX COMPARE_TEXT_MAX
#define FACT_MAX 400

/* "+36 MB, +17.6 %, noise 2 MB" */
static void difference_text(const struct compare_difference *d, enum compare_unit unit,
			    char buf[CELL_MAX])
{
	char by[32], noise[32];
	size_t len;

	if (isnan(d->by) || d->by == 0) {
		snprintf(buf, CELL_MAX, isnan(d->by) ? "-" : "none");
		return;
	}
	compare_unit_text(fabs(d->by), unit, by, sizeof(by));
	len = (size_t)snprintf(buf, CELL_MAX, "%s%s", d->by < 0 ? "-" : "+", by);
	if (!isnan(d->share))
		len += (size_t)snprintf(buf + len, CELL_MAX - len, ", %+.1f %%", d->share * 100);
	if (isnan(d->noise))
		return;
	compare_unit_text(d->noise, unit, noise, sizeof(noise));
	snprintf(buf + len, CELL_MAX - len, ", noise %s%s", noise,
		 d->apart ? "" : ", ranges overlap");
}

static void side_text(const struct comparison *c, size_t side, char *buf, size_t cap)
{
	size_t len = (size_t)plain_text(c->sides[side].name, strlen(c->sides[side].name), buf, cap);

	if (c->sides[side].runs > 1 && len < cap)
		snprintf(buf + len, cap - len, " (%zu runs)", c->sides[side].runs);
}

static void fact_text(const struct comparison *c, size_t side, size_t fact, char buf[FACT_MAX])
{
	char text[FACT_MAX];

	compare_fact_text(c, side, fact, text, sizeof(text));
	plain_text(text, strlen(text), buf, FACT_MAX);
}

/* Whether any run knows it. */
static bool known(const struct comparison *c, size_t figure)
{
	for (size_t i = 0; i < c->n_sides; i++)
		if (compare_value_of(c, i, figure).n)
			return true;
	return false;
}

/* --- for a terminal ------------------------------------------------------------------------- */

static void text_facts(FILE *out, const struct comparison *c)
{
	char text[FACT_MAX];
	bool any = false;

	for (size_t fact = 0; fact < compare_facts(); fact++) {
		if (!compare_fact_differs(c, fact))
			continue;
		any = true;
		fprintf(out, LINE "differs: %s: ", compare_fact(fact));
		for (size_t side = 0; side < c->n_sides; side++) {
			fact_text(c, side, fact, text);
			fprintf(out, "%s%s", side ? " | " : "", text);
		}
		fputc('\n', out);
	}
	if (!any)
		fputs(LINE "same machine, command and way of measuring, as far as recorded\n", out);
}

/* The first side and another; alone where there is no other. */
static void text_pair(FILE *out, const struct comparison *c, size_t side)
{
	char a[CELL_MAX], b[CELL_MAX], d[CELL_MAX];

	side_text(c, 0, a, sizeof(a));
	side_text(c, side, b, sizeof(b));
	if (side)
		fprintf(out, LINE "%-25s  %-26s  %-26s  %s\n", "", a, b, "difference");
	else
		fprintf(out, LINE "%-25s  %s\n", "", a);
	for (size_t f = 0; f < compare_figures(); f++) {
		const struct compare_figure *figure = compare_figure(f);
		const struct compare_value first = compare_value_of(c, 0, f);
		const struct compare_value other = compare_value_of(c, side, f);
		const struct compare_difference difference = compare_difference_of(c, side, f);

		if (!known(c, f))
			continue;
		compare_value_text(&first, figure->unit, a);
		if (!side) {
			fprintf(out, LINE "%-25s  %s\n", figure->name, a);
			continue;
		}
		compare_value_text(&other, figure->unit, b);
		difference_text(&difference, figure->unit, d);
		fprintf(out, LINE "%-25s  %-26s  %-26s  %s\n", figure->name, a, b, d);
	}
}

int compare_text(const struct comparison *c, const struct document_sink *to)
{
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	text_facts(g.f, c);
	if (c->n_sides == 1)
		text_pair(g.f, c, 0);
	for (size_t side = 1; side < c->n_sides; side++)
		text_pair(g.f, c, side);
	return gather_close(&g, 0, to);
}

/* --- as Markdown ---------------------------------------------------------------------------- */

static void markdown_head(FILE *out, const struct comparison *c, const char *first,
			  bool differences)
{
	char text[CELL_MAX];

	fprintf(out, "\n| %s |", first);
	for (size_t side = 0; side < c->n_sides; side++) {
		side_text(c, side, text, sizeof(text));
		fputc(' ', out);
		markdown_code(out, text);
		fputs(side && differences ? " | difference |" : " |", out);
	}
	fputs("\n|---|", out);
	for (size_t side = 0; side < c->n_sides; side++)
		fputs(!differences ? "---|" : side ? "---:|---:|" : "---:|", out);
	fputc('\n', out);
}

static void markdown_facts(FILE *out, const struct comparison *c)
{
	char text[FACT_MAX];
	bool any = false;

	for (size_t fact = 0; fact < compare_facts(); fact++) {
		if (!compare_fact_differs(c, fact))
			continue;
		if (!any)
			markdown_head(out, c, "differs", false);
		any = true;
		fprintf(out, "| %s |", compare_fact(fact));
		for (size_t side = 0; side < c->n_sides; side++) {
			fact_text(c, side, fact, text);
			fputc(' ', out);
			markdown_code(out, text);
			fputs(" |", out);
		}
		fputc('\n', out);
	}
	if (!any)
		fputs("\nSame machine, command and way of measuring, as far as recorded.\n", out);
}

static void markdown_figures(FILE *out, const struct comparison *c)
{
	char text[CELL_MAX];

	markdown_head(out, c, "figure", true);
	for (size_t f = 0; f < compare_figures(); f++) {
		const struct compare_figure *figure = compare_figure(f);

		if (!known(c, f))
			continue;
		fprintf(out, "| %s |", figure->name);
		for (size_t side = 0; side < c->n_sides; side++) {
			const struct compare_value v = compare_value_of(c, side, f);
			const struct compare_difference d = compare_difference_of(c, side, f);

			compare_value_text(&v, figure->unit, text);
			fprintf(out, " %s |", text);
			difference_text(&d, figure->unit, text);
			if (side)
				fprintf(out, " %s |", text);
		}
		fputc('\n', out);
	}
}

int compare_markdown(const struct comparison *c, const struct document_sink *to)
{
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	fputs(c->n_sides > 1 ? "\n### Comparison\n" : "\n### Repeated runs\n", g.f);
	markdown_facts(g.f, c);
	markdown_figures(g.f, c);
	return gather_close(&g, 0, to);
}
