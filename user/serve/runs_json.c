// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runs_json - the live page's view of the journals
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "journal/json.h"
#include "report/fields.h"
#include "report/json_fields.h"
#include "serve/runs.h"
#include "units.h"

/* [[seconds,rss,cpus],...], null where there is none. */
static void write_series(struct json *j, const struct em_meter *m)
{
	json_key(j, "series");
	json_array(j);
	for (size_t i = 0; i < m->n; i++) {
		const struct em_mark *mark = &m->marks[i];

		json_array(j);
		json_double(j, mark->at);
		json_count(j, mark->rss);
		json_figure(j, mark->cpus);
		json_array_end(j);
	}
	json_array_end(j);
}

static void write_rows(struct json *j, const struct top *t)
{
	struct process *rows[FOLLOW_TOP];
	size_t n = t->n < FOLLOW_TOP ? t->n : FOLLOW_TOP;

	for (size_t i = 0; i < n; i++)
		rows[i] = t->rows[i];
	rows_sort(rows, n, TOP_PEAK);
	json_key(j, "largest");
	json_array(j);
	for (size_t i = 0; i < n; i++) {
		json_open(j);
		json_fields(j, rows[i], &process_head_fields);
		json_fields(j, rows[i], &process_tail_fields);
		json_close(j);
	}
	json_array_end(j);
}

/* Of a split tree: those that ended last, the newest first. */
static void write_ended(struct json *j, const struct follow *f)
{
	int64_t kept = f->n_runs < FOLLOW_RUNS ? f->n_runs : FOLLOW_RUNS;

	json_count(json_key(j, "runs_ended"), f->n_runs);
	json_key(j, "runs");
	json_array(j);
	for (int64_t i = 1; i <= kept; i++) {
		const struct follow_run *r = &f->runs[(f->n_runs - i) % FOLLOW_RUNS];

		json_open(j);
		json_key(j, "name");
		json_cstring(j, r->name);
		json_count(json_key(j, "pid"), r->pid);
		json_time(json_key(j, "started"), r->started_ns);
		json_time(json_key(j, "ended"), r->ended_ns);
		json_count(json_key(j, "exit_code"), r->exit_code);
		json_count(json_key(j, "exit_signal"), r->exit_signal);
		json_count(json_key(j, "peak_rss_bytes"), r->usage.peak_lower_bytes);
		json_duration(json_key(j, "cpu_seconds"), r->usage.cpu_ns);
		json_figure(json_key(j, "peak_cpus"), r->usage.peak_cpus);
		json_close(j);
	}
	json_array_end(j);
}

static void write_now(struct json *j, const struct follow *f)
{
	json_key(j, "now");
	json_open(j);
	json_count(json_key(j, "rss_bytes"), f->now.rss_bytes);
	json_duration(json_key(j, "cpu_seconds"), f->now.cpu_ns);
	json_figure(json_key(j, "cpus"), f->series.last_cpus);
	json_count(json_key(j, "processes"), f->now.processes);
	json_count(json_key(j, "threads"), f->now.threads);
	json_count(json_key(j, "peak_rss_lower_bytes"), f->now.lower_bytes);
	json_count(json_key(j, "peak_rss_upper_bytes"), f->now.upper_bytes);
	json_close(j);
}

static void write_run(struct json *j, const struct run_facts *run)
{
	json_key(j, "id");
	json_cstring(j, run->id);
	json_key(j, "mode");
	json_cstring(j, run->mode);
	json_key(j, "command");
	if (run->command) {
		json_array(j);
		for (char **arg = run->command; *arg; arg++)
			json_cstring(j, *arg);
		json_array_end(j);
	} else {
		json_null(j);
	}
	json_key(j, "exe");
	json_cstring(j, run->exe_path);
	json_key(j, "labels");
	json_array(j);
	for (size_t i = 0; i < run->n_labels; i++) {
		json_array(j);
		json_cstring(j, run->labels[i].key);
		json_cstring(j, run->labels[i].value);
		json_array_end(j);
	}
	json_array_end(j);
	json_fields(j, run, &run_tail_fields);
}

static void write_journal(struct json *j, const struct follow *f, int64_t now_ns)
{
	const char *slash = strrchr(f->name, '/');

	json_open(j);
	json_key(j, "journal");
	json_cstring(j, slash ? slash + 1 : f->name);
	json_key(j, "state");
	json_cstring(j, journal_state_name(journal_state_of(f, now_ns)));
	json_count(json_key(j, "malformed_lines"), (int64_t)f->n_faults);
	if (f->run) {
		write_run(j, &f->run->run);
		json_duration(json_key(j, "seconds"), f->ended ? f->run->run.wall_ns : f->last_ns);
		json_key(j, "phase");
		json_cstring(j, f->phase);
		json_count(json_key(j, "processes_ended"), f->rows);
		json_count(json_key(j, "processes_failed"), f->failed);
		json_count(json_key(j, "events_lost"), f->lost);
		write_now(j, f);
		write_series(j, &f->series);
		write_rows(j, &f->by_peak);
		write_ended(j, f);
	}
	if (f->run && f->ended) {
		json_key(j, "usage");
		json_open(j);
		json_fields(j, &f->run->usage, &usage_peak_fields);
		json_fields(j, &f->run->usage, &usage_cpu_fields);
		json_close(j);
		json_key(j, "exact");
		f->run->completeness.exact < 0 ? json_null(j)
					       : json_bool(j, f->run->completeness.exact);
	}
	json_close(j);
}

struct listed {
	int64_t start_ns;
	const struct follow *follow;
};

/* What there is no run of yet comes first, then the latest. */
static int by_start(const void *a, const void *b)
{
	const struct listed *p = a, *q = b;

	return (q->start_ns > p->start_ns) - (q->start_ns < p->start_ns);
}

int runs_json(const struct journals *journals, struct reply *ret)
{
	struct listed *all = calloc(journals->n + 1, sizeof(*all));
	int64_t now_ns = clock_ns(CLOCK_REALTIME);
	size_t n = journals->n < RUNS_MAX ? journals->n : RUNS_MAX;
	struct json j;

	json_init(&j);
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < journals->n; i++) {
		const struct follow *f = journals->all[i].follow;

		all[i] = (struct listed){ f->run ? f->run->run.started_at_ns : INT64_MAX, f };
	}
	qsort(all, journals->n, sizeof(*all), by_start);
	json_open(&j);
	json_key(&j, "runs");
	json_array(&j);
	for (size_t i = 0; i < n; i++)
		write_journal(&j, all[i].follow, now_ns);
	json_array_end(&j);
	json_count(json_key(&j, "omitted"), (int64_t)(journals->n - n));
	json_close(&j);
	json_newline(&j);
	free(all);
	*ret = (struct reply){ .status = 200, .type = "application/json" };
	if (j.err) {
		json_free(&j);
		return -ENOMEM;
	}
	ret->body = j.buf;
	ret->len = j.len;
	return 0;
}
