// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare_html - a comparison as the data of a page
 */
#include <math.h>

#include "format/comparison.h"
#include "format/page.h"

#define FORMAT   "exitmeter.comparison/1"
#define FACT_MAX 4096

static void write_key_number(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

static void write_sides(struct json *j, const struct comparison *c)
{
	json_key(j, "sides");
	json_array(j);
	for (size_t i = 0; i < c->n_sides; i++) {
		json_open(j);
		json_key(j, "name");
		json_cstring(j, c->sides[i].name);
		json_key(j, "runs");
		json_int(j, (int64_t)c->sides[i].runs);
		json_close(j);
	}
	json_array_end(j);
}

static void write_facts(struct json *j, const struct comparison *c)
{
	char text[FACT_MAX];

	json_key(j, "facts");
	json_array(j);
	for (size_t fact = 0; fact < compare_facts(); fact++) {
		json_open(j);
		json_key(j, "name");
		json_cstring(j, compare_fact(fact));
		json_key(j, "differs");
		json_bool(j, compare_fact_differs(c, fact));
		json_key(j, "sides");
		json_array(j);
		for (size_t side = 0; side < c->n_sides; side++) {
			compare_fact_text(c, side, fact, text, sizeof(text));
			json_cstring(j, text);
		}
		json_array_end(j);
		json_close(j);
	}
	json_array_end(j);
}

static void write_value(struct json *j, const struct comparison *c, size_t side, size_t figure)
{
	const struct compare_value v = compare_value_of(c, side, figure);
	const struct compare_difference d = compare_difference_of(c, side, figure);

	json_open(j);
	json_key(j, "known");
	json_int(j, (int64_t)v.n);
	write_key_number(j, "median", v.median);
	write_key_number(j, "least", v.least);
	write_key_number(j, "most", v.most);
	write_key_number(j, "by", d.by);
	write_key_number(j, "share", d.share);
	write_key_number(j, "noise", d.noise);
	json_key(j, "apart");
	json_bool(j, d.apart);
	json_close(j);
}

static void write_figures(struct json *j, const struct comparison *c)
{
	static const char *const units[] = { "bytes", "seconds", "cores", "count" };

	json_key(j, "figures");
	json_array(j);
	for (size_t f = 0; f < compare_figures(); f++) {
		json_open(j);
		json_key(j, "name");
		json_cstring(j, compare_figure(f)->name);
		json_key(j, "unit");
		json_cstring(j, units[compare_figure(f)->unit]);
		json_key(j, "sides");
		json_array(j);
		for (size_t side = 0; side < c->n_sides; side++)
			write_value(j, c, side, f);
		json_array_end(j);
		json_close(j);
	}
	json_array_end(j);
}

static void write_mark(struct json *j, const struct em_mark *m)
{
	json_array(j);
	json_double(j, m->at);
	json_count(j, m->rss);
	json_figure(j, m->cpus);
	json_array_end(j);
}

static void write_runs(struct json *j, const struct comparison *c)
{
	json_key(j, "runs");
	json_array(j);
	for (size_t i = 0; i < c->n_runs; i++) {
		json_open(j);
		json_key(j, "name");
		json_cstring(j, c->runs[i].name);
		json_key(j, "side");
		json_int(j, (int64_t)c->runs[i].side);
		json_key(j, "marks");
		json_array(j);
		for (size_t k = 0; k < c->runs[i].n_marks; k++)
			write_mark(j, &c->runs[i].marks[k]);
		json_array_end(j);
		json_close(j);
	}
	json_array_end(j);
}

int compare_html(const struct comparison *c, const struct document_sink *to)
{
	struct json j;
	int err;

	json_init(&j);
	json_open(&j);
	json_key(&j, "format");
	json_cstring(&j, FORMAT);
	json_key(&j, "version");
	json_cstring(&j, EXITMETER_VERSION);
	json_key(&j, "by");
	json_cstring(&j, c->by);
	write_sides(&j, c);
	write_facts(&j, c);
	write_figures(&j, c);
	write_runs(&j, c);
	json_close(&j);
	err = j.err ? j.err : page_write(&j, to);
	json_free(&j);
	return err;
}
