// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define PATH_NAME_MAX 64

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct column runs_columns[] = {
	{ "host", COLUMN_TEXT, "env.host" },
	{ "name", COLUMN_TEXT, "name" },
	{ "labels", COLUMN_JSON, "run.labels" },
	{ "mode", COLUMN_TEXT, "run.mode" },
	{ "command", COLUMN_JSON, "run.command" },
	{ "pid", COLUMN_INT, "run.pid" },
	{ "cwd", COLUMN_TEXT, "run.cwd" },
	{ "exe_path", COLUMN_TEXT, "run.exe.path" },
	{ "exe_build_id", COLUMN_TEXT, "run.exe.build_id" },
	{ "started_at", COLUMN_TIME, "run.started_at" },
	{ "started", COLUMN_DOUBLE, "started" },
	{ "ended", COLUMN_DOUBLE, "ended" },
	{ "wall_seconds", COLUMN_DOUBLE, "run.wall_seconds" },
	{ "exit_code", COLUMN_INT, "run.exit_code" },
	{ "exit_signal", COLUMN_INT, "run.exit_signal" },
	{ "core_dumped", COLUMN_BOOL, "run.core_dumped" },
	{ "oom_killed", COLUMN_BOOL, "run.oom_killed" },
	{ "detached", COLUMN_BOOL, "run.detached" },
	{ "cut_off", COLUMN_BOOL, "cut_off" },
	{ "lines", COLUMN_INT, "lines" },
	{ "source", COLUMN_TEXT, "source.exits" },
	{ "hook", COLUMN_TEXT, "source.hook" },
	{ "fallback_reason", COLUMN_TEXT, "source.fallback_reason" },
	{ "interval_seconds", COLUMN_DOUBLE, "source.interval_seconds" },
	{ "notes", COLUMN_JSON, "source.notes" },
	{ "initial", COLUMN_INT, "completeness.initial" },
	{ "forks", COLUMN_INT, "completeness.forks" },
	{ "exits", COLUMN_INT, "completeness.exits" },
	{ "running_at_end", COLUMN_INT, "completeness.running_at_end" },
	{ "events_lost", COLUMN_INT, "completeness.events_lost" },
	{ "exact", COLUMN_BOOL, "completeness.exact" },
	{ "reasons", COLUMN_JSON, "completeness.reasons" },
	{ "peak_rss_bytes", COLUMN_INT, "usage.peak_rss_bytes" },
	{ "peak_rss_lower_bytes", COLUMN_INT, "usage.peak_rss_lower_bytes" },
	{ "peak_rss_upper_bytes", COLUMN_INT, "usage.peak_rss_upper_bytes" },
	{ "peak_rss_at_seconds", COLUMN_DOUBLE, "usage.peak_rss_at_seconds" },
	{ "peak_source", COLUMN_TEXT, "usage.peak_source" },
	{ "peak_rss_process_bytes", COLUMN_INT, "usage.peak_rss_process_bytes" },
	{ "peak_rss_sum_bytes", COLUMN_INT, "usage.peak_rss_sum_bytes" },
	{ "peak_pss_bytes", COLUMN_INT, "usage.peak_pss_bytes" },
	{ "cgroup_peak_bytes", COLUMN_INT, "usage.cgroup_peak_bytes" },
	{ "rss_split_bytes", COLUMN_JSON, "usage.rss_split_bytes" },
	{ "cpu_seconds", COLUMN_DOUBLE, "usage.cpu_seconds" },
	{ "cpu_user_seconds", COLUMN_DOUBLE, "usage.cpu_user_seconds" },
	{ "cpu_system_seconds", COLUMN_DOUBLE, "usage.cpu_system_seconds" },
	{ "peak_cpus", COLUMN_DOUBLE, "usage.peak_cpus" },
	{ "mean_cpus", COLUMN_DOUBLE, "usage.mean_cpus" },
	{ "max_processes", COLUMN_INT, "usage.max_processes" },
	{ "total_processes", COLUMN_INT, "usage.total_processes" },
	{ "max_threads", COLUMN_INT, "usage.max_threads" },
	{ "minor_faults", COLUMN_INT, "usage.minor_faults" },
	{ "major_faults", COLUMN_INT, "usage.major_faults" },
	{ "voluntary_ctxt_switches", COLUMN_INT, "usage.voluntary_ctxt_switches" },
	{ "involuntary_ctxt_switches", COLUMN_INT, "usage.involuntary_ctxt_switches" },
	{ "io", COLUMN_JSON, "usage.io" },
	{ "groups", COLUMN_JSON, "groups" },
	{ "at_peak", COLUMN_JSON, "at_peak" },
	{ "phases", COLUMN_JSON, "phases" },
	{ "host_load", COLUMN_JSON, "host_load" },
	{ "foreign_cores", COLUMN_DOUBLE, "host_load.foreign_cores" },
	{ "energy", COLUMN_JSON, "energy" },
	{ "disk", COLUMN_JSON, "disk" },
};

static const struct column env_columns[] = {
	{ "host", COLUMN_TEXT, "host" },
	{ "kernel", COLUMN_TEXT, "kernel" },
	{ "machine", COLUMN_TEXT, "machine" },
	{ "cpu_model", COLUMN_TEXT, "cpu_model" },
	{ "cpus", COLUMN_INT, "cpus" },
	{ "affinity_cpus", COLUMN_INT, "affinity_cpus" },
	{ "memory_bytes", COLUMN_INT, "memory_bytes" },
	{ "governor", COLUMN_TEXT, "governor" },
	{ "load_start", COLUMN_DOUBLE, "load_start.0" },
	{ "load_end", COLUMN_DOUBLE, "load_end.0" },
	{ "steal_seconds", COLUMN_DOUBLE, "steal_seconds" },
	{ "work_fs_type", COLUMN_TEXT, "work_fs_type" },
	{ "sched_class", COLUMN_TEXT, "sched_class" },
	{ "sched_priority", COLUMN_INT, "sched_priority" },
	{ "cgroup_cpu_limit", COLUMN_DOUBLE, "cgroup.cpu_limit" },
	{ "cgroup_memory_limit_bytes", COLUMN_INT, "cgroup.memory_limit_bytes" },
	{ "thp", COLUMN_TEXT, "thp" },
	{ "container", COLUMN_TEXT, "container" },
	{ "boot_id", COLUMN_TEXT, "boot_id" },
};

static const struct column processes_columns[] = {
	{ "pid", COLUMN_INT, "pid" },
	{ "ppid", COLUMN_INT, "ppid" },
	{ "comm", COLUMN_TEXT, "comm" },
	{ "argv", COLUMN_JSON, "argv" },
	{ "started", COLUMN_DOUBLE, "started" },
	{ "ended", COLUMN_DOUBLE, "ended" },
	{ "exit_code", COLUMN_INT, "exit_code" },
	{ "exit_signal", COLUMN_INT, "exit_signal" },
	{ "core_dumped", COLUMN_BOOL, "core_dumped" },
	{ "oom_killed", COLUMN_BOOL, "oom_killed" },
	{ "running", COLUMN_BOOL, "running" },
	{ "peak_rss_bytes", COLUMN_INT, "peak_rss_bytes" },
	{ "peak_rss_exact", COLUMN_BOOL, "peak_rss_exact" },
	{ "inherited_rss_bytes", COLUMN_INT, "inherited_rss_bytes" },
	{ "peak_vm_bytes", COLUMN_INT, "peak_vm_bytes" },
	{ "peak_source", COLUMN_TEXT, "peak_source" },
	{ "anon_bytes", COLUMN_INT, "rss_split_bytes.anon" },
	{ "file_bytes", COLUMN_INT, "rss_split_bytes.file" },
	{ "shmem_bytes", COLUMN_INT, "rss_split_bytes.shmem" },
	{ "swap_bytes", COLUMN_INT, "rss_split_bytes.swap" },
	{ "hugetlb_bytes", COLUMN_INT, "rss_split_bytes.hugetlb" },
	{ "cpu_seconds", COLUMN_DOUBLE, "cpu_seconds" },
	{ "cpu_user_seconds", COLUMN_DOUBLE, "cpu_user_seconds" },
	{ "cpu_system_seconds", COLUMN_DOUBLE, "cpu_system_seconds" },
	{ "threads", COLUMN_INT, "threads" },
	{ "execs", COLUMN_INT, "execs" },
	{ "minor_faults", COLUMN_INT, "minor_faults" },
	{ "major_faults", COLUMN_INT, "major_faults" },
	{ "voluntary_ctxt_switches", COLUMN_INT, "voluntary_ctxt_switches" },
	{ "involuntary_ctxt_switches", COLUMN_INT, "involuntary_ctxt_switches" },
	{ "read_bytes", COLUMN_INT, "io.read_bytes" },
	{ "write_bytes", COLUMN_INT, "io.write_bytes" },
	{ "rchar", COLUMN_INT, "io.rchar" },
	{ "wchar", COLUMN_INT, "io.wchar" },
};

/* A mark of a document is [age, rss, cpu, cpus]. */
static const struct column marks_columns[] = {
	{ "age", COLUMN_DOUBLE, "0" },
	{ "rss_bytes", COLUMN_INT, "1" },
	{ "cpu_seconds", COLUMN_DOUBLE, "2" },
	{ "cpus", COLUMN_DOUBLE, "3" },
};

static const struct column attempts_columns[] = {
	{ "id", COLUMN_TEXT, "id" },
	{ "started_age", COLUMN_DOUBLE, "started" },
	{ "ended_age", COLUMN_DOUBLE, "ended" },
	{ "peak_rss_bytes", COLUMN_INT, "usage.peak_rss_bytes" },
	{ "cpu_seconds", COLUMN_DOUBLE, "usage.cpu_seconds" },
	{ "peak_cpus", COLUMN_DOUBLE, "usage.peak_cpus" },
	{ "resources", COLUMN_JSON, "resources" },
};

const struct table tables[TABLES] = {
	[TABLE_RUNS] = { "runs", runs_columns, COUNT(runs_columns) },
	[TABLE_ENV] = { "env", env_columns, COUNT(env_columns) },
	[TABLE_PROCESSES] = { "processes", processes_columns, COUNT(processes_columns) },
	[TABLE_MARKS] = { "marks", marks_columns, COUNT(marks_columns) },
	[TABLE_ATTEMPTS] = { "attempts", attempts_columns, COUNT(attempts_columns) },
};

static json_object *member(json_object *o, const char *name, size_t len)
{
	char key[PATH_NAME_MAX];
	json_object *v = NULL;

	if (len >= sizeof(key))
		return NULL;
	memcpy(key, name, len);
	key[len] = '\0';
	if (json_object_is_type(o, json_type_array))
		return json_object_array_get_idx(o, strtoul(key, NULL, 10));
	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &v);
	return v;
}

json_object *table_value(json_object *o, const char *path)
{
	while (o && *path) {
		size_t len = strcspn(path, ".");

		o = member(o, path, len);
		path += len + (path[len] == '.');
	}
	return o;
}

/* A NUL, which a text of SQL cannot hold, becomes the character that stands for what is not one. */
#define REPLACEMENT "\xef\xbf\xbd"

static void put(struct row *r, const char *text, size_t len)
{
	size_t cap = r->cap ? r->cap : 1024;
	char *buf;

	while (cap - r->len < len)
		cap *= 2;
	if (cap > r->cap) {
		buf = realloc(r->buf, cap);
		if (!buf) {
			r->err = -ENOMEM;
			return;
		}
		r->buf = buf;
		r->cap = cap;
	}
	memcpy(r->buf + r->len, text, len);
	r->len += len;
}

/* Bytes that are no UTF-8 become the characters of their Latin-1 values, as in JSON. */
static void put_text(struct row *r, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;

	for (size_t i = 0, n; i < len && !r->err; i += n ? n : 1) {
		n = utf8_char(p + i, len - i, &c);
		if (!p[i])
			put(r, REPLACEMENT, sizeof(REPLACEMENT) - 1);
		else if (n)
			put(r, text + i, n);
		else
			put(r, (char[]){ (char)(0xc0 | p[i] >> 6), (char)(0x80 | (p[i] & 0x3f)) },
			    2);
	}
}

static void write_text(struct row *r, struct json *j, const char *text, size_t len)
{
	size_t start = r->len;

	put_text(r, text, len);
	if (r->err)
		return;
	json_string(j, r->buf + start, r->len - start);
	r->len = start;
}

static void write_value(struct row *r, struct json *j, json_object *v);

static void write_members(struct row *r, struct json *j, json_object *o)
{
	json_open(j);
	json_object_object_foreach(o, key, v)
	{
		/* A name, and then no comma: the writer's own keys are trusted. */
		write_text(r, j, key, strlen(key));
		json_colon(j);
		write_value(r, j, v);
	}
	json_close(j);
}

static void write_value(struct row *r, struct json *j, json_object *v)
{
	switch (json_object_get_type(v)) {
	case json_type_object:
		write_members(r, j, v);
		break;
	case json_type_array:
		json_array(j);
		for (size_t i = 0; i < json_object_array_length(v); i++)
			write_value(r, j, json_object_array_get_idx(v, i));
		json_array_end(j);
		break;
	case json_type_string:
		write_text(r, j, json_object_get_string(v), (size_t)json_object_get_string_len(v));
		break;
	case json_type_int:
		json_int(j, json_object_get_int64(v));
		break;
	case json_type_double:
		json_double(j, json_object_get_double(v));
		break;
	case json_type_boolean:
		json_bool(j, json_object_get_boolean(v));
		break;
	case json_type_null:
	default:
		json_null(j);
	}
}

/* The cell's text begins at its place in the buffer, which may still move: see row_fill. */
static void fill_text(struct row *r, struct cell *c, json_object *v)
{
	size_t start = r->len;

	c->at = start;
	if (c->type == COLUMN_JSON) {
		json_reset(&r->json);
		write_value(r, &r->json, v);
		if (r->json.err)
			r->err = r->json.err;
		else
			put(r, r->json.buf, r->json.len);
	} else {
		const char *text = json_object_get_string(v);

		/* Of a number the length is not told. */
		put_text(r, text,
			 json_object_is_type(v, json_type_string)
				 ? (size_t)json_object_get_string_len(v)
				 : strlen(text));
	}
	c->len = r->len - start;
	put(r, "", 1);
}

static bool is_number(json_object *v)
{
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

static void fill(struct row *r, struct cell *c, json_object *v)
{
	switch (c->type) {
	case COLUMN_INT:
		c->null = !is_number(v);
		c->i = json_object_get_int64(v);
		break;
	case COLUMN_DOUBLE:
		c->null = !is_number(v);
		c->d = json_object_get_double(v);
		break;
	case COLUMN_BOOL:
		c->null = !json_object_is_type(v, json_type_boolean);
		c->i = json_object_get_boolean(v);
		break;
	case COLUMN_TEXT:
	case COLUMN_TIME:
		/* An attempt's id may be a number. */
		c->null = !json_object_is_type(v, json_type_string) && !is_number(v);
		if (!c->null)
			fill_text(r, c, v);
		break;
	case COLUMN_JSON:
	default:
		fill_text(r, c, v);
	}
}

int row_fill(struct row *r, const struct table *t, json_object *o)
{
	r->len = 0;
	r->err = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct cell *c = &r->cells[i];
		json_object *v = table_value(o, t->columns[i].path);

		*c = (struct cell){ .type = t->columns[i].type, .null = !v };
		if (v)
			fill(r, c, v);
		/* In a mark what is not known is -1 (SPEC U-102). */
		if (t == &tables[TABLE_MARKS] && (c->type == COLUMN_INT ? c->i < 0 : c->d < 0))
			c->null = true;
	}
	for (size_t i = 0; i < t->n; i++)
		if (r->cells[i].len || (!r->cells[i].null && r->cells[i].type >= COLUMN_TEXT))
			r->cells[i].text = r->buf + r->cells[i].at;
	return r->err;
}

char *table_text(const char *text)
{
	struct row r = { .err = 0 };

	put_text(&r, text, strlen(text));
	if (!r.err)
		put(&r, "", 1);
	if (!r.err)
		return r.buf;
	free(r.buf);
	return NULL;
}

void row_free(struct row *r)
{
	json_free(&r->json);
	free(r->buf);
	*r = (struct row){ 0 };
}
