// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_summary.h"

#include <string.h>

#include "report/fields.h"
#include "report/json_budget.h"
#include "report/json_env.h"
#include "report/json_fields.h"
#include "report/json_load.h"
#include "report/json_stretch.h"

#define SCHEMA "exitmeter.summary/1"

static void int_or_null(struct json *j, int64_t v)
{
	if (v == UNKNOWN)
		json_null(j);
	else
		json_int(j, v);
}

static void write_texts(struct json *j, const char *key, const struct texts *t)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < t->n; i++)
		json_cstring(j, t->at[i]);
	json_array_end(j);
}

void json_process_argv(struct json *j, const struct process *p)
{
	const char *at = p->argv, *end = p->argv + p->argv_len;

	if (!p->argv_known) {
		json_null(j);
		return;
	}
	json_array(j);
	while (at < end) {
		size_t len = strnlen(at, (size_t)(end - at));

		json_string(j, at, len);
		at += len + 1;
	}
	json_array_end(j);
}

void json_process_members(struct json *j, const struct process *p)
{
	json_fields(j, p, &process_head_fields);
	json_key(j, "argv");
	json_process_argv(j, p);
	if (p->argv_known && p->argv_truncated) {
		json_key(j, "argv_truncated");
		json_bool(j, true);
	}
	json_fields(j, p, &process_tail_fields);
	json_fields_object(j, "rss_split_bytes", &p->split, &split_fields);
	json_fields_object(j, "io", &p->io, &io_fields);
	if (!p->notes)
		return;
	json_key(j, "notes");
	json_array(j);
	for (unsigned int bit = 1; record_note_name((enum record_note)bit); bit <<= 1)
		if (p->notes & bit)
			json_cstring(j, record_note_name((enum record_note)bit));
	json_array_end(j);
}

static bool label_comes_again(const struct run_facts *f, size_t i)
{
	for (size_t k = i + 1; k < f->n_labels; k++)
		if (!strcmp(f->labels[i].key, f->labels[k].key))
			return true;
	return false;
}

/* Keys are a user's words: escaped, and the last one of a name counts. */
static void write_labels(struct json *j, const struct run_facts *f)
{
	json_key(j, "labels");
	json_open(j);
	for (size_t i = 0; i < f->n_labels; i++) {
		if (label_comes_again(f, i))
			continue;
		json_cstring(j, f->labels[i].key);
		j->comma = false;
		json_raw(j, ":", 1);
		j->comma = false;
		json_cstring(j, f->labels[i].value);
	}
	json_close(j);
}

void json_run(struct json *j, const struct run_facts *f)
{
	json_open(j);
	json_key(j, "id");
	json_cstring(j, f->id);
	write_labels(j, f);
	json_fields(j, f, &run_head_fields);
	json_key(j, "command");
	if (f->command) {
		json_array(j);
		for (char **arg = f->command; *arg; arg++)
			json_cstring(j, *arg);
		json_array_end(j);
	} else {
		json_null(j);
	}
	json_key(j, "pid");
	int_or_null(j, f->pid);
	json_key(j, "cwd");
	json_cstring(j, f->cwd);
	if (f->exe_path) {
		json_fields_object(j, "exe", f, &exe_fields);
	} else {
		json_key(j, "exe");
		json_null(j);
	}
	json_fields(j, f, &run_tail_fields);
	if (f->repeat > 0)
		json_fields(j, f, &run_repeat_fields);
	json_close(j);
}

void json_source(struct json *j, const struct source_facts *f)
{
	json_open(j);
	json_fields(j, f, &source_fields);
	write_texts(j, "notes", &f->notes);
	json_close(j);
}

static void write_usage(struct json *j, const struct usage *u)
{
	json_key(j, "usage");
	json_open(j);
	json_fields(j, u, &usage_peak_fields);
	json_fields_object(j, "rss_split_bytes", &u->split, &split_fields);
	json_fields(j, u, &usage_cpu_fields);
	json_key(j, "io");
	json_open(j);
	json_key(j, "source");
	json_cstring(j, u->io_source);
	json_fields(j, &u->io, &io_fields);
	json_close(j);
	json_close(j);
}

static void write_groups(struct json *j, const struct summary *s)
{
	json_key(j, "groups");
	json_array(j);
	for (size_t i = 0; i < s->n_groups; i++) {
		json_open(j);
		json_fields(j, &s->groups[i], &group_fields);
		if (s->groups[i].other) {
			json_key(j, "other");
			json_bool(j, true);
		}
		json_close(j);
	}
	json_array_end(j);
}

void json_marks(struct json *j, const struct summary *s)
{
	json_key(j, "marks");
	json_array(j);
	for (size_t i = 0; i < s->n_marks; i++) {
		json_array(j);
		json_double(j, s->marks[i].at);
		json_int(j, s->marks[i].rss);
		json_double(j, s->marks[i].cpu);
		json_double(j, s->marks[i].cpus);
		json_array_end(j);
	}
	json_array_end(j);
}

static void write_completeness(struct json *j, const struct completeness *c)
{
	json_key(j, "completeness");
	json_open(j);
	json_fields(j, c, &completeness_fields);
	write_texts(j, "reasons", &c->reasons);
	json_close(j);
}

void json_tool(struct json *j)
{
	json_key(j, "tool");
	json_open(j);
	json_key(j, "name");
	json_cstring(j, "exitmeter");
	json_key(j, "version");
	json_cstring(j, EXITMETER_VERSION);
	json_close(j);
}

static void write_head(struct json *j, const struct summary *s)
{
	json_key(j, "schema");
	json_cstring(j, SCHEMA);
	json_tool(j);
	json_key(j, "run");
	json_run(j, &s->run);
	json_key(j, "source");
	json_source(j, &s->source);
	write_completeness(j, &s->completeness);
	write_usage(j, &s->usage);
	json_fields_object(j, "rusage", &s->rusage, &rusage_fields);
	json_key(j, "at_peak");
	json_array(j);
	for (size_t i = 0; i < s->n_at_peak; i++) {
		json_open(j);
		json_fields(j, &s->at_peak[i], &at_peak_fields);
		json_close(j);
	}
	json_array_end(j);
	write_groups(j, s);
}

static void write_energies(struct json *j, const struct summary *s)
{
	json_key(j, "energy");
	json_array(j);
	for (size_t i = 0; i < s->n_energies; i++) {
		json_open(j);
		json_fields(j, &s->energies[i], &energy_fields);
		json_close(j);
	}
	json_array_end(j);
}

static void write_disks(struct json *j, const struct summary *s)
{
	json_key(j, "disk");
	json_array(j);
	for (size_t i = 0; i < s->n_disks; i++) {
		json_open(j);
		json_fields(j, &s->disks[i], &disk_fields);
		json_close(j);
	}
	json_array_end(j);
}

static void write_tail(struct json *j, const struct summary *s, bool marks)
{
	char at[40];

	json_key(j, "aged_at");
	if (s->aged_at_ns < 0) {
		json_null(j);
	} else {
		wall_clock_text(s->aged_at_ns, at, sizeof(at));
		json_cstring(j, at);
	}
	if (marks)
		json_marks(j, s);
	json_stretches(j, s);
	json_key(j, "host_load");
	json_load(j, &s->host_load);
	json_key(j, "env");
	json_env(j, &s->env);
	write_energies(j, s);
	write_disks(j, s);
	json_key(j, "budget");
	json_budget(j, &s->budget);
	if (s->cut_off) {
		json_key(j, "cut_off");
		json_bool(j, true);
	}
	if (s->left_out.from_ns != TIME_NONE)
		json_fields_object(j, "left_out", &s->left_out, &left_out_fields);
}

void json_process(struct json *j, const struct process *p)
{
	json_open(j);
	json_process_members(j, p);
	json_close(j);
}

void json_summary_members(struct json *j, const struct summary *s)
{
	write_head(j, s);
	json_key(j, "processes_omitted");
	json_int(j, s->rows_omitted);
	write_tail(j, s, false);
}

void json_summary_begin(struct json *j, const struct summary *s)
{
	json_open(j);
	write_head(j, s);
	json_key(j, "processes");
	json_array(j);
}

void json_summary_end(struct json *j, const struct summary *s, int64_t omitted)
{
	json_array_end(j);
	json_key(j, "processes_omitted");
	json_int(j, omitted);
	write_tail(j, s, true);
	json_close(j);
	json_newline(j);
}

void json_run_end_members(struct json *j, const struct summary *s)
{
	write_usage(j, &s->usage);
	write_completeness(j, &s->completeness);
	json_marks(j, s);
	json_stretches(j, s);
}
