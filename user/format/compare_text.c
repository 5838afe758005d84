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
#include "report/grid.h"
#include "units.h"

#define LINE     "exitmeter: "
#define CELL_MAX COMPARE_TEXT_MAX
#define FACT_MAX 400
#define NAME_LEN 1024 /* of a side, told in full */

/* What is left out, one more each, where a terminal has no room for it. */
enum detail {
	DETAIL_ALL,
	DETAIL_NO_RANGES, /* of the runs of a side */
	DETAIL_SHARE,     /* of a difference where it has one, not the amount */
	DETAIL_NO_NOISE,
	DETAIL_LEAST,
};

/* "+36 MB, +17.6 %, noise 2 MB" */
static void difference_text(const struct compare_difference *d, enum compare_unit unit,
			    enum detail detail, char buf[CELL_MAX])
{
	bool amount = detail < DETAIL_SHARE || isnan(d->share);
	char by[32], noise[32];
	size_t len = 0;

	if (isnan(d->by) || d->by == 0) {
		snprintf(buf, CELL_MAX, isnan(d->by) ? "-" : "none");
		return;
	}
	compare_unit_text(fabs(d->by), unit, by, sizeof(by));
	if (amount)
		len = (size_t)snprintf(buf, CELL_MAX, "%s%s", d->by < 0 ? "-" : "+", by);
	if (!isnan(d->share))
		len += (size_t)snprintf(buf + len, CELL_MAX - len, "%s%+.1f %%", len ? ", " : "",
					d->share * 100);
	if (isnan(d->noise) || detail == DETAIL_LEAST)
		return;
	compare_unit_text(d->noise, unit, noise, sizeof(noise));
	if (detail < DETAIL_NO_NOISE)
		len += (size_t)snprintf(buf + len, CELL_MAX - len, ", noise %s", noise);
	if (!d->apart)
		snprintf(buf + len, CELL_MAX - len, ", ranges overlap");
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

struct text_report {
	const struct comparison *c;
	FILE *out;
	size_t width; /* 0: any */
	bool letters; /* sides are called A, B, ... */
};

/* "A" to "Z", "AA", ... */
static void letters_of(size_t side, char buf[CELL_MAX])
{
	char name[16];
	size_t at = sizeof(name) - 1;

	name[at] = '\0';
	for (size_t n = side + 1; n && at; n = (n - 1) / 26)
		name[--at] = (char)('A' + (n - 1) % 26);
	snprintf(buf, CELL_MAX, "%s", name + at);
}

static void call_side(const struct text_report *r, size_t side, char buf[CELL_MAX])
{
	if (r->letters)
		letters_of(side, buf);
	else
		side_text(r->c, side, buf, CELL_MAX);
}

static bool fact_fits(const struct text_report *r, size_t fact)
{
	size_t width = strlen(LINE "differs: : ") + strlen(compare_fact(fact));
	char text[FACT_MAX];

	for (size_t side = 0; side < r->c->n_sides; side++) {
		fact_text(r->c, side, fact, text);
		width += text_columns(text) + (side ? strlen(" | ") : 0);
	}
	return !r->width || width <= r->width;
}

/* In one line, or a side a line. */
static void text_fact(const struct text_report *r, size_t fact)
{
	char text[FACT_MAX], name[CELL_MAX], line[FACT_MAX + CELL_MAX + 2];
	bool fits = fact_fits(r, fact);

	fprintf(r->out, LINE "differs: %s%s", compare_fact(fact), fits ? ": " : "\n");
	for (size_t side = 0; side < r->c->n_sides; side++) {
		fact_text(r->c, side, fact, text);
		call_side(r, side, name);
		snprintf(line, sizeof(line), "%s: %s", name, text);
		if (fits)
			fprintf(r->out, "%s%s", side ? " | " : "", text);
		else
			print_wrapped(r->out, LINE "  ", "  ", line, r->width);
	}
	fputs(fits ? "\n" : "", r->out);
}

static void text_facts(const struct text_report *r)
{
	bool any = false;

	for (size_t fact = 0; fact < compare_facts(); fact++) {
		if (!compare_fact_differs(r->c, fact))
			continue;
		any = true;
		text_fact(r, fact);
	}
	if (!any)
		fputs(LINE "same machine, command and way of measuring, as far as recorded\n",
		      r->out);
}

static void side_value(const struct compare_value *v, enum compare_unit unit, enum detail detail,
		       char buf[CELL_MAX])
{
	if (detail < DETAIL_NO_RANGES || !v->n)
		compare_value_text(v, unit, buf);
	else
		compare_unit_text(v->median, unit, buf, CELL_MAX);
}

/* The first side and another; alone where there is no other. */
static void fill_grid(const struct text_report *r, size_t side, enum detail detail, struct grid *g)
{
	memset(g, 0, sizeof(*g));
	call_side(r, 0, g->cells[0][1]);
	if (side) {
		call_side(r, side, g->cells[0][2]);
		snprintf(g->cells[0][3], CELL_MAX, "difference");
	}
	g->n = 1;
	for (size_t f = 0; f < compare_figures(); f++) {
		const struct compare_figure *figure = compare_figure(f);
		const struct compare_value first = compare_value_of(r->c, 0, f);
		const struct compare_value other = compare_value_of(r->c, side, f);
		const struct compare_difference difference = compare_difference_of(r->c, side, f);
		char(*row)[CELL_MAX] = g->cells[g->n];

		if (!known(r->c, f))
			continue;
		g->n++;
		snprintf(row[0], CELL_MAX, "%s", figure->name);
		side_value(&first, figure->unit, detail, row[1]);
		if (!side)
			continue;
		side_value(&other, figure->unit, detail, row[2]);
		difference_text(&difference, figure->unit, detail, row[3]);
	}
}

/* Long names of sides take more room than any figure: they are told before. */
static bool letters_needed(struct text_report *r)
{
	struct grid g;

	for (size_t side = r->c->n_sides > 1; side < r->c->n_sides; side++) {
		fill_grid(r, side, DETAIL_SHARE, &g);
		if (r->width && grid_width(&g, LINE) > r->width)
			return true;
	}
	return false;
}

static void text_sides(const struct text_report *r)
{
	char letters[CELL_MAX], name[NAME_LEN], line[NAME_LEN + CELL_MAX + 2];

	for (size_t side = 0; r->letters && side < r->c->n_sides; side++) {
		letters_of(side, letters);
		side_text(r->c, side, name, sizeof(name));
		snprintf(line, sizeof(line), "%s: %s", letters, name);
		print_wrapped(r->out, LINE, "   ", line, r->width);
	}
}

/* As much as there is room for. */
static void text_pair(const struct text_report *r, size_t side)
{
	struct grid g;

	for (int detail = DETAIL_ALL; detail <= DETAIL_LEAST; detail++) {
		fill_grid(r, side, (enum detail)detail, &g);
		if (!r->width || grid_width(&g, LINE) <= r->width)
			break;
	}
	grid_print(&g, LINE, r->out);
}

int compare_text(const struct comparison *c, size_t width, const struct document_sink *to)
{
	struct text_report r = { .c = c, .width = width };
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	r.out = g.f;
	r.letters = letters_needed(&r);
	text_sides(&r);
	text_facts(&r);
	for (size_t side = c->n_sides > 1; side < c->n_sides; side++)
		text_pair(&r, side);
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
			difference_text(&d, figure->unit, DETAIL_ALL, text);
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
