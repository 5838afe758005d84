// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_units.h"
#include "report/gather.h"
#include "report/grid.h"
#include "report/json_summary.h"
#include "report/text.h"
#include "units.h"

#define LINE     "exitmeter: "
#define RUNS_FEW 10 /* more are not told one by one */
#define FACT_MAX 400

/* --- taking --------------------------------------------------------------------------------- */

static int text_of(void (*say)(FILE *, const struct summary *), const struct summary *sum,
		   char **ret)
{
	size_t len;
	FILE *f = open_memstream(ret, &len);

	if (!f)
		return -ENOMEM;
	say(f, sum);
	return fclose(f) ? -ENOMEM : 0;
}

int run_series_add(struct run_series *s, const char *journal, const struct summary *sum)
{
	struct series_run *runs = reallocarray(s->runs, s->n + 1, sizeof(*runs)), *r;
	int err;

	if (!runs)
		return -ENOMEM;
	s->runs = runs;
	r = &runs[s->n];
	*r = (struct series_run){ .id = sum->run.id ? strdup(sum->run.id) : NULL,
				  .exit_code = sum->run.exit_code,
				  .exit_signal = sum->run.exit_signal,
				  .repeat = sum->run.repeat,
				  .repeats = sum->run.repeats,
				  .exact = sum->completeness.exact,
				  .cut_off = sum->cut_off };
	s->n++;
	err = comparison_add(&s->c, journal, s->n > 1, sum);
	if (!err)
		err = text_of(text_figures, sum, &r->figures);
	if (!err)
		err = text_of(text_warnings, sum, &r->warnings);
	return err;
}

void run_series_free(struct run_series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->runs[i].id);
		free(s->runs[i].figures);
		free(s->runs[i].warnings);
	}
	free(s->runs);
	comparison_free(&s->c);
	*s = (struct run_series){ 0 };
}

/* How many it was to be; UNKNOWN where these are not one series from its first on. */
static int64_t repeats_of(const struct run_series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->runs[i].repeat != (int64_t)i + 1 || s->runs[i].repeats != s->runs[0].repeats)
			return UNKNOWN;
	return s->n && s->runs[0].repeats >= (int64_t)s->n ? s->runs[0].repeats : UNKNOWN;
}

/* --- for people ----------------------------------------------------------------------------- */

static bool failed(const struct series_run *r)
{
	return r->exit_code > 0 || r->exit_signal > 0;
}

static void say_run(FILE *out, size_t number, const struct series_run *r)
{
	fprintf(out, LINE "run %zu: %s", number, r->figures);
	if (r->exit_signal > 0)
		fprintf(out, ", signal %lld", (long long)r->exit_signal);
	else if (r->exit_code > 0)
		fprintf(out, ", exit %lld", (long long)r->exit_code);
	fputc('\n', out);
}

static bool alike_warned(const struct run_series *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (strcmp(s->runs[i].warnings, s->runs[0].warnings) != 0)
			return false;
	return true;
}

/* Its lines, each with the number of the run. */
static void say_warning(FILE *out, size_t number, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t from = strncmp(text, LINE, strlen(LINE)) ? 0 : strlen(LINE);

		fprintf(out, LINE "run %zu: %.*s\n", number, (int)(len - from), text + from);
		text += len + (text[len] == '\n');
	}
}

static void say_warnings(FILE *out, const struct run_series *s)
{
	size_t warned = 0;

	if (alike_warned(s)) {
		fputs(s->runs[0].warnings, out);
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		warned += *s->runs[i].warnings != '\0';
		if (warned <= RUNS_FEW)
			say_warning(out, i + 1, s->runs[i].warnings);
	}
	if (warned > RUNS_FEW)
		fprintf(out, LINE "and %zu more runs of which something is to be said\n",
			warned - RUNS_FEW);
}

/* All of a few; of many those that failed, the first ones. */
static void say_runs(FILE *out, const struct run_series *s)
{
	size_t said = 0, n_failed = 0;

	for (size_t i = 0; i < s->n; i++) {
		n_failed += failed(&s->runs[i]);
		if (said == RUNS_FEW || (s->n > RUNS_FEW && !failed(&s->runs[i])))
			continue;
		said++;
		say_run(out, i + 1, &s->runs[i]);
	}
	if (n_failed > RUNS_FEW)
		fprintf(out, LINE "and %zu more runs that failed\n", n_failed - RUNS_FEW);
}

static void head_row(const struct run_series *s, struct grid *g)
{
	static const char *const heads[] = { "median", "least to most", "median deviation" };
	int64_t repeats = repeats_of(s);
	char *runs = g->cells[0][0];

	if (repeats > (int64_t)s->n)
		snprintf(runs, COMPARE_TEXT_MAX, "%zu of %lld runs", s->n, (long long)repeats);
	else
		snprintf(runs, COMPARE_TEXT_MAX, "%zu run%s", s->n, s->n == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		snprintf(g->cells[0][i + 1], COMPARE_TEXT_MAX, "%s", heads[i]);
	g->n = 1;
}

static void figure_row(const struct run_series *s, size_t figure, struct grid *g)
{
	const struct compare_figure *f = compare_figure(figure);
	const struct compare_value v = compare_value_of(&s->c, 0, figure);
	char(*row)[COMPARE_TEXT_MAX] = g->cells[g->n];
	char *last = row[2];

	if (!v.n)
		return;
	snprintf(row[0], COMPARE_TEXT_MAX, "%s", f->name);
	compare_unit_text(v.median, f->unit, row[1], COMPARE_TEXT_MAX);
	compare_range_text(&v, f->unit, row[2]);
	if (*row[2]) {
		last = row[3];
		compare_unit_text(v.deviation, f->unit, last, COMPARE_TEXT_MAX);
	} else if (v.n > 1) {
		snprintf(last, COMPARE_TEXT_MAX, "alike");
	}
	if (v.n < s->n)
		snprintf(last + strlen(last), COMPARE_TEXT_MAX - strlen(last), "%s(of %zu run%s)",
			 *last ? "  " : "", v.n, v.n == 1 ? "" : "s");
	g->n++;
}

/* Those that most people ask for; the others are in the JSON. */
static bool in_short(const struct compare_figure *f)
{
	static const char *const keys[] = {
		"wall_seconds",         "cpu_seconds",          "peak_cpus",
		"peak_rss_lower_bytes", "peak_rss_upper_bytes", "peak_pss_bytes",
		"cgroup_peak_bytes",    "total_processes",      "peak_rss_process_bytes",
		"foreign_cores"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(f->key, keys[i]))
			return true;
	return false;
}

static void say_differences(FILE *out, const struct run_series *s)
{
	char text[FACT_MAX], plain[FACT_MAX];

	for (size_t fact = 0; fact < compare_facts(); fact++) {
		if (!compare_fact_differs(&s->c, fact))
			continue;
		compare_fact_text(&s->c, 0, fact, text, sizeof(text));
		plain_text(text, strlen(text), plain, sizeof(plain));
		fprintf(out, LINE "differs: %s: %s\n", compare_fact(fact), plain);
	}
}

static void say_exact(FILE *out, const struct run_series *s)
{
	size_t n_exact = 0, from = compare_fact_of("exits from");
	char text[FACT_MAX], plain[FACT_MAX];

	for (size_t i = 0; i < s->n; i++)
		n_exact += s->runs[i].exact == 1;
	compare_fact_text(&s->c, 0, from, text, sizeof(text));
	plain_text(text, strlen(text), plain, sizeof(plain));
	fprintf(out, LINE "exits from %s; ", plain);
	if (n_exact == s->n)
		fputs("all runs exact\n", out);
	else
		fprintf(out, "%zu of %zu runs exact\n", n_exact, s->n);
}

static void say_figures(FILE *out, const struct run_series *s)
{
	struct grid g = { .n = 0 };

	head_row(s, &g);
	for (size_t i = 0; i < compare_figures(); i++)
		if (in_short(compare_figure(i)))
			figure_row(s, i, &g);
	grid_print(&g, LINE, out);
}

int run_series_text(const struct run_series *s, bool each, const struct document_sink *to)
{
	struct gathered g;
	int err = s->n ? gather_open(&g) : 0;

	if (err || !s->n)
		return err;
	say_warnings(g.f, s);
	if (each)
		say_runs(g.f, s);
	say_figures(g.f, s);
	say_differences(g.f, s);
	say_exact(g.f, s);
	return gather_close(&g, 0, to);
}

/* --- for programs --------------------------------------------------------------------------- */

static void write_run(struct json *j, const struct series_run *r)
{
	json_open(j);
	json_key(j, "id");
	json_cstring(j, r->id);
	json_count(json_key(j, "exit_code"), r->exit_code);
	json_count(json_key(j, "exit_signal"), r->exit_signal);
	json_key(j, "exact");
	json_bool(j, r->exact == 1);
	json_key(j, "cut_off");
	json_bool(j, r->cut_off);
	json_close(j);
}

static void write_figure(struct json *j, const struct run_series *s, size_t figure)
{
	const struct compare_value v = compare_value_of(&s->c, 0, figure);

	json_key(j, compare_figure(figure)->key);
	json_open(j);
	json_key(j, "runs");
	json_int(j, (int64_t)v.n);
	json_double(json_key(j, "median"), v.median);
	json_double(json_key(j, "least"), v.least);
	json_double(json_key(j, "most"), v.most);
	json_double(json_key(j, "median_deviation"), v.deviation);
	json_close(j);
}

static void write_differences(struct json *j, const struct run_series *s)
{
	char text[4 * FACT_MAX];

	json_key(j, "differs");
	json_array(j);
	for (size_t fact = 0; fact < compare_facts(); fact++) {
		if (!compare_fact_differs(&s->c, fact))
			continue;
		compare_fact_text(&s->c, 0, fact, text, sizeof(text));
		json_open(j);
		json_key(j, "name");
		json_cstring(j, compare_fact(fact));
		json_key(j, "values");
		json_cstring(j, text);
		json_close(j);
	}
	json_array_end(j);
}

int run_series_json(const struct run_series *s, const struct document_sink *to)
{
	struct json j;
	int err;

	if (!s->n)
		return 0;
	json_init(&j);
	json_open(&j);
	json_key(&j, "schema");
	json_cstring(&j, "exitmeter.series/1");
	json_tool(&j);
	json_key(&j, "series");
	json_open(&j);
	json_count(json_key(&j, "repeats"), repeats_of(s));
	json_key(&j, "runs");
	json_array(&j);
	for (size_t i = 0; i < s->n; i++)
		write_run(&j, &s->runs[i]);
	json_array_end(&j);
	json_key(&j, "figures");
	json_open(&j);
	for (size_t i = 0; i < compare_figures(); i++)
		write_figure(&j, s, i);
	json_close(&j);
	write_differences(&j, s);
	json_close(&j);
	json_close(&j);
	json_newline(&j);
	err = j.err;
	if (!err)
		err = json_hand_on(&j, 0, to);
	json_free(&j);
	return err;
}
