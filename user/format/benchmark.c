// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * benchmark - one run, or the medians of several, for services that keep figures over time:
 * github-action-benchmark (customSmallerIsBetter) and Bencher (its metric format)
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "format/name.h"
#include "journal/json.h"
#include "units.h"

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)
#define MIB(bytes)  (round((double)(bytes) / 1048576.0 * 100) / 100)

static int put_json(struct json *j, const struct document_sink *to)
{
	int err;

	json_newline(j);
	err = j->err ? j->err : to->put(to->ctx, j->buf, j->len);
	json_free(j);
	return err;
}

/* --- github-action-benchmark ---------------------------------------------------------------- */

static void put_entry(struct json *j, const char *run, const char *what, const char *unit, double v)
{
	char name[RUN_NAME_MAX + 32];

	snprintf(name, sizeof(name), "%s: %s", run, what);
	json_open(j);
	json_key(j, "name");
	json_cstring(j, name);
	json_key(j, "unit");
	json_cstring(j, unit);
	json_key(j, "value");
	json_double(j, v);
}

/* The median of several runs, and between which they lie. */
static void put_median(struct json *j, const struct run_series *s, const char *run,
		       const char *what, const char *key)
{
	const struct compare_value v = compare_value_of(&s->c, 0, compare_figure_of(key));
	bool bytes = strstr(key, "_bytes");
	char text[64];

	if (!v.n)
		return;
	put_entry(j, run, what, bytes ? "MiB" : "s", bytes ? MIB(v.median) : v.median);
	if (bytes)
		snprintf(text, sizeof(text), "%.2f to %.2f", MIB(v.least), MIB(v.most));
	else
		snprintf(text, sizeof(text), "%.6g to %.6g", v.least, v.most);
	json_key(j, "range");
	json_cstring(j, text);
	snprintf(text, sizeof(text), "median of %zu runs", v.n);
	json_key(j, "extra");
	json_cstring(j, text);
	json_close(j);
}

static void put_memory(struct json *j, const struct summary *s, const char *run)
{
	const struct usage *u = &s->usage;
	char range[64];

	put_entry(j, run, "peak memory", "MiB", MIB(u->peak_lower_bytes));
	if (u->peak_upper_bytes >= u->peak_lower_bytes) {
		snprintf(range, sizeof(range), "%.2f to %.2f", MIB(u->peak_lower_bytes),
			 MIB(u->peak_upper_bytes));
		json_key(j, "range");
		json_cstring(j, range);
	}
	json_key(j, "extra");
	json_cstring(j, s->completeness.exact == 1 ? "every process's end was seen"
						   : "not exact: see the report");
	json_close(j);
}

int format_benchmark_action(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	char run[RUN_NAME_MAX];
	struct json j;

	run_name(s, run);
	json_init(&j);
	json_array(&j);
	if (in->series) {
		put_median(&j, in->series, run, "peak memory", "peak_rss_lower_bytes");
		put_median(&j, in->series, run, "CPU time", "cpu_seconds");
		put_median(&j, in->series, run, "wall time", "wall_seconds");
		json_array_end(&j);
		return put_json(&j, to);
	}
	if (s->usage.peak_lower_bytes >= 0)
		put_memory(&j, s, run);
	if (s->usage.cpu_ns >= 0) {
		put_entry(&j, run, "CPU time", "s", SECONDS(s->usage.cpu_ns));
		json_close(&j);
	}
	if (s->run.wall_ns >= 0) {
		put_entry(&j, run, "wall time", "s", SECONDS(s->run.wall_ns));
		json_close(&j);
	}
	json_array_end(&j);
	return put_json(&j, to);
}

/* --- Bencher -------------------------------------------------------------------------------- */

/* @lower below 0: bounds are not known. */
static void put_measure(struct json *j, const char *measure, double value, double lower,
			double upper)
{
	json_key(j, measure);
	json_open(j);
	json_key(j, "value");
	json_double(j, value);
	if (lower >= 0 && upper >= lower) {
		json_key(j, "lower_value");
		json_double(j, lower);
		json_key(j, "upper_value");
		json_double(j, upper);
	}
	json_close(j);
}

static void put_medians(struct json *j, const struct run_series *s)
{
	static const char *const measures[][2] = { { "memory", "peak_rss_lower_bytes" },
						   { "cpu-time", "cpu_seconds" },
						   { "wall-time", "wall_seconds" } };

	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		const struct compare_value v =
			compare_value_of(&s->c, 0, compare_figure_of(measures[i][1]));

		if (v.n)
			put_measure(j, measures[i][0], v.median, v.least, v.most);
	}
}

int format_bencher(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	const struct usage *u = &s->usage;
	char run[RUN_NAME_MAX];
	struct json j;

	run_name(s, run);
	json_init(&j);
	json_open(&j);
	/* A user's words as a key: escaped. */
	json_cstring(&j, run);
	json_colon(&j);
	json_open(&j);
	if (in->series)
		put_medians(&j, in->series);
	if (!in->series && u->peak_lower_bytes >= 0)
		put_measure(&j, "memory", (double)u->peak_lower_bytes, (double)u->peak_lower_bytes,
			    (double)u->peak_upper_bytes);
	if (!in->series && u->cpu_ns >= 0)
		put_measure(&j, "cpu-time", SECONDS(u->cpu_ns), UNKNOWN, UNKNOWN);
	if (!in->series && s->run.wall_ns >= 0)
		put_measure(&j, "wall-time", SECONDS(s->run.wall_ns), UNKNOWN, UNKNOWN);
	json_close(&j);
	json_close(&j);
	return put_json(&j, to);
}
