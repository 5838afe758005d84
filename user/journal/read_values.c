// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal/read_budget.h"
#include "journal/read_env.h"
#include "report/fields.h"
#include "report/json_fields.h"
#include "units.h"

#define SCHEMA "exitmeter.summary/1"
/* Differences of two such values still fit. */
#define VALUE_MOST (INT64_MAX / 2)
#define LABELS_MAX 4096
#define WORDS_MAX  (4u << 20) /* the kernel allows a command line of 6 MiB */

int why_set(struct why *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return -EBADMSG;
}

/* --- one reader a field_kind --------------------------------------------------------------- */

static int read_int64(json_object *v, int64_t *ret)
{
	if (!json_object_is_type(v, json_type_int) || json_object_get_uint64(v) > INT64_MAX)
		return -EBADMSG;
	*ret = json_object_get_int64(v);
	return 0;
}

static int read_count(json_object *v, void *at)
{
	int64_t n;

	if (!v) {
		*(int64_t *)at = UNKNOWN;
		return 0;
	}
	if (read_int64(v, &n) || n < 0)
		return -EBADMSG;
	*(int64_t *)at = n;
	return 0;
}

static int read_pid(json_object *v, void *at)
{
	int64_t n = UNKNOWN;

	if (v && (read_int64(v, &n) || n < 0 || n > INT32_MAX))
		return -EBADMSG;
	*(int32_t *)at = (int32_t)n;
	return 0;
}

static int read_id(json_object *v, void *at)
{
	int64_t n = UNKNOWN;

	if (v && !json_object_is_type(v, json_type_int))
		return -EBADMSG;
	if (v)
		n = (int64_t)json_object_get_uint64(v);
	*(int64_t *)at = n;
	return 0;
}

/* "12.345": all digits count, doubles have too few for large times.  No exponent. */
static bool decimal_ns(const char *text, int64_t *ret)
{
	bool below = *text == '-';
	int64_t s = 0, part = 0, unit = NS_PER_S;
	const char *p = text + below;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(s, 10, &s) || __builtin_add_overflow(s, *p - '0', &s))
			return false;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++) {
			unit /= 10;
			part += (*p - '0') * unit;
		}
	if (*p || p == text + below || __builtin_mul_overflow(s, NS_PER_S, &s) || s > VALUE_MOST)
		return false;
	*ret = below ? -(s + part) : s + part;
	return true;
}

int value_ns(json_object *v, int64_t unknown, int64_t *ret)
{
	const char *text;
	double s;

	if (!v) {
		*ret = unknown;
		return 0;
	}
	if (!json_object_is_type(v, json_type_int) && !json_object_is_type(v, json_type_double))
		return -EBADMSG;
	text = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);
	if (!text)
		return -ENOMEM;
	if (decimal_ns(text, ret))
		return 0;
	/* Written by another hand: an exponent, or more digits than there are ns. */
	s = json_object_get_double(v);
	if (!isfinite(s) || fabs(s) * (double)NS_PER_S >= (double)VALUE_MOST)
		return -EBADMSG;
	*ret = llround(s * (double)NS_PER_S);
	return 0;
}

static int read_ns(json_object *v, void *at)
{
	int64_t ns = 0;
	int err = value_ns(v, UNKNOWN, &ns);

	if (!err && v && ns < 0)
		err = -EBADMSG;
	if (!err)
		*(int64_t *)at = ns;
	return err;
}

static int read_time(json_object *v, void *at)
{
	return value_ns(v, TIME_NONE, at);
}

static int read_flag(json_object *v, void *at)
{
	if (v && !json_object_is_type(v, json_type_boolean))
		return -EBADMSG;
	*(int8_t *)at = v ? (int8_t)json_object_get_boolean(v) : UNKNOWN;
	return 0;
}

static int read_double(json_object *v, void *at)
{
	double d = UNKNOWN;

	if (v) {
		if (!json_object_is_type(v, json_type_int) &&
		    !json_object_is_type(v, json_type_double))
			return -EBADMSG;
		d = json_object_get_double(v);
		if (!isfinite(d) || d < 0)
			return -EBADMSG;
	}
	*(double *)at = d;
	return 0;
}

static int read_signed(json_object *v, void *at)
{
	double d = NAN;

	if (v) {
		if (!json_object_is_type(v, json_type_int) &&
		    !json_object_is_type(v, json_type_double))
			return -EBADMSG;
		d = json_object_get_double(v);
		if (!isfinite(d))
			return -EBADMSG;
	}
	*(double *)at = d;
	return 0;
}

/* The text of @v without a NUL in it, NULL for none. */
static const char *plain_string(json_object *v, size_t *ret_len)
{
	const char *text;

	if (!json_object_is_type(v, json_type_string))
		return NULL;
	text = json_object_get_string(v);
	*ret_len = (size_t)json_object_get_string_len(v);
	return strlen(text) == *ret_len ? text : NULL;
}

static int read_string(json_object *v, void *at)
{
	char **to = at, *copy = NULL;
	const char *text;
	size_t len;

	if (v) {
		text = plain_string(v, &len);
		if (!text)
			return -EBADMSG;
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free(*to);
	*to = copy;
	return 0;
}

static int read_comm(json_object *v, void *at)
{
	size_t len = 0;
	const char *text = plain_string(v, &len);

	if (!text || len > EM_COMM_LEN)
		return -EBADMSG;
	memset(at, 0, EM_COMM_LEN);
	memcpy(at, text, len);
	return 0;
}

static int read_source(json_object *v, void *at)
{
	size_t len;
	const char *name = v ? plain_string(v, &len) : NULL;

	if (v && !name)
		return -EBADMSG;
	*(enum peak_source *)at = peak_source_of(name);
	return 0;
}

static int read_host(json_object *v, void *at)
{
	size_t len = 0;
	const char *name = plain_string(v, &len);

	for (int host = EM_HOST_UNAVAILABLE; name && host <= EM_HOST_COTENANT; host++)
		if (!strcmp(name, em_host_name(host))) {
			*(enum em_host *)at = (enum em_host)host;
			return 0;
		}
	return -EBADMSG;
}

static int read_wall_clock(json_object *v, void *at)
{
	char again[40];
	struct tm tm = { 0 };
	const char *text, *end;
	size_t len;
	int64_t s;

	if (!v) {
		*(int64_t *)at = UNKNOWN;
		return 0;
	}
	text = plain_string(v, &len);
	if (!text || len >= sizeof(again))
		return -EBADMSG;
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end != '.')
		return -EBADMSG;
	s = timegm(&tm);
	if (s < -VALUE_MOST / NS_PER_S || s > VALUE_MOST / NS_PER_S)
		return -EBADMSG;
	s = s * NS_PER_S + strtol(end + 1, NULL, 10) % 1000 * NS_PER_MS;
	/* There is one way to write a moment. */
	wall_clock_text(s, again, sizeof(again));
	if (strcmp(again, text) != 0)
		return -EBADMSG;
	*(int64_t *)at = s;
	return 0;
}

static const struct {
	int (*read)(json_object *v, void *at);
	const char *what;
} kinds[] = {
	[FIELD_INT] = { read_count, "a count or null" },
	[FIELD_PID] = { read_pid, "a pid" },
	[FIELD_ID] = { read_id, "a number or null" },
	[FIELD_NS] = { read_ns, "seconds or null" },
	[FIELD_TIME] = { read_time, "seconds or null" },
	[FIELD_FLAG] = { read_flag, "true, false or null" },
	[FIELD_DOUBLE] = { read_double, "a number or null" },
	[FIELD_SIGNED] = { read_signed, "a number or null" },
	[FIELD_STRING] = { read_string, "a text or null" },
	[FIELD_COMM] = { read_comm, "a name of at most 16 bytes" },
	[FIELD_SOURCE] = { read_source, "a text or null" },
	[FIELD_HOST] = { read_host, "a verdict" },
	[FIELD_WALL_CLOCK] = { read_wall_clock, "a moment in RFC 3339 or null" },
};

static int read_field(json_object *o, const char *key, enum field_kind kind, void *at,
		      struct why *why)
{
	json_object *v;
	int err;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	err = kinds[kind].read(v, at);
	return err == -EBADMSG ? why_set(why, "%s is not %s", key, kinds[kind].what) : err;
}

int value_fields(json_object *o, void *base, const struct field_table *t, struct why *why)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->n; i++)
		err = read_field(o, t->at[i].name, t->at[i].kind, (char *)base + t->at[i].offset,
				 why);
	return err;
}

int value_int(json_object *o, const char *key, int64_t *ret, struct why *why)
{
	return read_field(o, key, FIELD_INT, ret, why);
}

/* --- objects and arrays -------------------------------------------------------------------- */

/* *@ret: the value of @key if it is of @type, NULL if it is null or missing. */
int value_child(json_object *o, const char *key, enum json_type type, json_object **ret,
		struct why *why)
{
	*ret = NULL;
	if (!json_object_object_get_ex(o, key, ret) || !*ret || json_object_is_type(*ret, type))
		return 0;
	return why_set(why, "%s is not %s", key,
		       type == json_type_array ? "an array" : "an object");
}

/* An object's fields; a missing one changes nothing. */
int value_object(json_object *o, const char *key, void *base, const struct field_table *t,
		 struct why *why)
{
	json_object *v;
	int err = value_child(o, key, json_type_object, &v, why);

	return err || !v ? err : value_fields(v, base, t, why);
}

static size_t length(json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

static int read_texts(json_object *o, const char *key, struct texts *t, struct why *why)
{
	json_object *list;
	int err = value_child(o, key, json_type_array, &list, why);

	if (err)
		return err;
	if (length(list) > TEXTS_MAX)
		return why_set(why, "%s is too long", key);
	for (size_t i = 0; i < length(list); i++) {
		size_t len = 0, before = t->n;
		const char *text = plain_string(json_object_array_get_idx(list, i), &len);
		bool there = false;

		if (!text)
			return why_set(why, "%s holds what is no text", key);
		for (size_t k = 0; k < before; k++)
			there |= !strcmp(t->at[k], text);
		texts_add(t, "%s", text);
		if (!there && t->n == before)
			return -ENOMEM;
	}
	return 0;
}

/* Bytes of all words, with a NUL after each. */
static int words_size(json_object *list, const char *key, size_t *ret, struct why *why)
{
	*ret = 0;
	for (size_t i = 0; i < length(list); i++) {
		size_t len = 0;

		if (!plain_string(json_object_array_get_idx(list, i), &len))
			return why_set(why, "%s holds what is no text", key);
		*ret += len + 1;
	}
	return 0;
}

static int read_notes(json_object *o, uint32_t *ret, struct why *why)
{
	json_object *list;
	int err = value_child(o, "notes", json_type_array, &list, why);

	for (size_t i = 0; !err && i < length(list); i++) {
		size_t len = 0;
		const char *name = plain_string(json_object_array_get_idx(list, i), &len);

		if (!name)
			return why_set(why, "notes holds what is no text");
		for (unsigned int bit = 1; record_note_name((enum record_note)bit); bit <<= 1)
			if (!strcmp(record_note_name((enum record_note)bit), name))
				*ret |= bit;
	}
	return err;
}

static int read_process(json_object *o, json_object *argv, struct process *p, struct why *why)
{
	int8_t truncated = 0;
	int err;

	err = value_fields(o, p, &process_head_fields, why);
	if (!err)
		err = value_fields(o, p, &process_tail_fields, why);
	if (!err)
		err = value_object(o, "rss_split_bytes", &p->split, &split_fields, why);
	if (!err)
		err = value_object(o, "io", &p->io, &io_fields, why);
	if (!err)
		err = read_notes(o, &p->notes, why);
	if (!err)
		err = read_field(o, "argv_truncated", FIELD_FLAG, &truncated, why);
	if (err)
		return err;
	if (p->running < 0 || p->peak_rss_exact < 0)
		return why_set(why, "%s is null", p->running < 0 ? "running" : "peak_rss_exact");
	p->argv_known = !!argv;
	p->argv_truncated = argv && truncated > 0;
	for (size_t i = 0; i < length(argv); i++) {
		json_object *word = json_object_array_get_idx(argv, i);
		size_t len = (size_t)json_object_get_string_len(word);

		memcpy(p->argv + p->argv_len, json_object_get_string(word), len + 1);
		p->argv_len += len + 1;
	}
	return 0;
}

int values_process(json_object *o, struct process **ret, struct why *why)
{
	json_object *argv;
	struct process *p;
	size_t size;
	int err = value_child(o, "argv", json_type_array, &argv, why);

	if (!err && !(json_object_object_get_ex(o, "pid", NULL) &&
		      json_object_object_get_ex(o, "comm", NULL)))
		err = why_set(why, "a process without pid or comm");
	if (!err)
		err = words_size(argv, "argv", &size, why);
	if (err)
		return err;
	p = process_blank(size);
	if (!p)
		return -ENOMEM;
	err = read_process(o, argv, p, why);
	if (err)
		process_unref(p);
	else
		*ret = p;
	return err;
}

static int read_labels(json_object *o, struct run_facts *f, struct why *why)
{
	json_object *labels;
	int err = value_child(o, "labels", json_type_object, &labels, why);

	if (err || !labels)
		return err;
	if (json_object_object_length(labels) > LABELS_MAX)
		return why_set(why, "more than %d labels", LABELS_MAX);
	f->labels = calloc((size_t)json_object_object_length(labels) + 1, sizeof(*f->labels));
	if (!f->labels)
		return -ENOMEM;
	json_object_object_foreach(labels, key, v)
	{
		struct label *l = &f->labels[f->n_labels];
		size_t len = 0;
		const char *text = plain_string(v, &len);

		if (!text)
			return why_set(why, "a label is no text");
		l->key = strdup(key);
		l->value = strdup(text);
		f->n_labels++;
		if (!l->key || !l->value)
			return -ENOMEM;
	}
	return 0;
}

static int read_command(json_object *o, struct run_facts *f, struct why *why)
{
	json_object *list;
	size_t size = 0;
	int err = value_child(o, "command", json_type_array, &list, why);

	if (!err && length(list) > WORDS_MAX)
		err = why_set(why, "command is too long");
	if (!err)
		err = words_size(list, "command", &size, why);
	if (err || !list)
		return err;
	f->command = calloc(length(list) + 1, sizeof(char *));
	if (!f->command)
		return -ENOMEM;
	for (size_t i = 0; i < length(list); i++) {
		f->command[i] = strdup(json_object_get_string(json_object_array_get_idx(list, i)));
		if (!f->command[i])
			return -ENOMEM;
	}
	return 0;
}

int values_run(json_object *o, struct run_facts *f, struct why *why)
{
	int err = read_field(o, "id", FIELD_STRING, &f->id, why);

	if (!err)
		err = read_labels(o, f, why);
	if (!err)
		err = value_fields(o, f, &run_head_fields, why);
	if (!err)
		err = read_command(o, f, why);
	if (!err)
		err = read_field(o, "pid", FIELD_INT, &f->pid, why);
	if (!err)
		err = read_field(o, "cwd", FIELD_STRING, &f->cwd, why);
	if (!err)
		err = value_object(o, "exe", f, &exe_fields, why);
	if (!err)
		err = value_fields(o, f, &run_tail_fields, why);
	if (!err)
		err = value_fields(o, f, &run_repeat_fields, why);
	return err;
}

int values_source(json_object *o, struct source_facts *f, struct why *why)
{
	int err = value_fields(o, f, &source_fields, why);

	return err ? err : read_texts(o, "notes", &f->notes, why);
}

static int read_usage(json_object *o, struct usage *u, struct why *why)
{
	json_object *io = NULL;
	int err = value_fields(o, u, &usage_peak_fields, why);

	if (!err)
		err = value_object(o, "rss_split_bytes", &u->split, &split_fields, why);
	if (!err)
		err = value_fields(o, u, &usage_cpu_fields, why);
	if (!err)
		err = value_child(o, "io", json_type_object, &io, why);
	if (!err && io)
		err = read_field(io, "source", FIELD_STRING, &u->io_source, why);
	if (!err && io)
		err = value_fields(io, &u->io, &io_fields, why);
	return err;
}

static int read_at_peak(json_object *o, struct summary *s, struct why *why)
{
	json_object *list;
	int err = value_child(o, "at_peak", json_type_array, &list, why);

	if (!err && length(list) > AT_PEAK_MAX)
		err = why_set(why, "at_peak is too long");
	for (size_t i = 0; !err && i < length(list); i++) {
		json_object *one = json_object_array_get_idx(list, i);

		if (!json_object_is_type(one, json_type_object))
			return why_set(why, "at_peak holds what is no object");
		err = value_fields(one, &s->at_peak[s->n_at_peak++], &at_peak_fields, why);
	}
	return err;
}

static int read_groups(json_object *o, struct summary *s, struct why *why)
{
	json_object *list;
	int err = value_child(o, "groups", json_type_array, &list, why);

	if (!err && length(list) > GROUPS_MAX + 1)
		err = why_set(why, "groups is too long");
	for (size_t i = 0; !err && i < length(list); i++) {
		json_object *one = json_object_array_get_idx(list, i);
		struct group *g = &s->groups[s->n_groups++];
		int8_t other = 0;

		if (!json_object_is_type(one, json_type_object))
			return why_set(why, "groups holds what is no object");
		err = value_fields(one, g, &group_fields, why);
		if (!err)
			err = read_field(one, "other", FIELD_FLAG, &other, why);
		g->other = other > 0;
	}
	return err;
}

/* Of a journal that has not all samples. */
static int read_marks(json_object *o, struct summary *s, struct why *why)
{
	json_object *list;
	const char *text;
	size_t len;
	int n, err = value_child(o, "marks", json_type_array, &list, why);

	if (err || !list)
		return err;
	text = json_object_to_json_string_length(list, JSON_C_TO_STRING_PLAIN, &len);
	if (!text)
		return -ENOMEM;
	n = em_marks_parse(text, len, s->marks, EM_MAX_MARKS);
	if (n < 0)
		return why_set(why, "marks: %s", em_error_text(n));
	s->n_marks = (size_t)n;
	return 0;
}

static int read_schema(json_object *o, struct why *why)
{
	json_object *v;
	size_t len = 0;
	const char *name = NULL;

	if (json_object_object_get_ex(o, "schema", &v))
		name = plain_string(v, &len);
	return name && !strcmp(name, SCHEMA) ? 0 : why_set(why, "the schema is not " SCHEMA);
}

int values_summary(json_object *o, struct summary *s, struct why *why)
{
	json_object *run = NULL, *source = NULL, *completeness = NULL, *usage = NULL, *env = NULL;
	int err = read_schema(o, why);

	if (!err)
		err = value_child(o, "run", json_type_object, &run, why);
	if (!err)
		err = value_child(o, "source", json_type_object, &source, why);
	if (!err)
		err = value_child(o, "completeness", json_type_object, &completeness, why);
	if (!err)
		err = value_child(o, "usage", json_type_object, &usage, why);
	if (!err && (!run || !source || !completeness || !usage))
		err = why_set(why, "a summary without run, source, completeness or usage");
	if (!err)
		err = values_run(run, &s->run, why);
	if (!err)
		err = values_source(source, &s->source, why);
	if (!err)
		err = value_fields(completeness, &s->completeness, &completeness_fields, why);
	if (!err)
		err = read_texts(completeness, "reasons", &s->completeness.reasons, why);
	if (!err)
		err = read_usage(usage, &s->usage, why);
	if (!err)
		err = value_object(o, "rusage", &s->rusage, &rusage_fields, why);
	if (!err)
		err = read_at_peak(o, s, why);
	if (!err)
		err = read_groups(o, s, why);
	if (!err)
		err = read_marks(o, s, why);
	if (!err)
		err = value_child(o, "env", json_type_object, &env, why);
	if (!err && env)
		err = values_env(env, &s->env, why);
	if (!err)
		err = values_host_load(o, &s->host_load, why);
	if (!err)
		err = values_energies(o, s, why);
	if (!err)
		err = values_disks(o, s, why);
	if (!err)
		err = values_budget(o, &s->budget, why);
	if (!err)
		err = read_field(o, "aged_at", FIELD_WALL_CLOCK, &s->aged_at_ns, why);
	return err;
}

/* --- escapes ------------------------------------------------------------------------------- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The C1 controls (\u0080 to \u009f) stand for the byte or for its character in UTF-8: the byte,
 * unless it could be taken for the rest of a character that a byte right before it began.
 */
const char *value_text(json_object *v, size_t *ret_len)
{
	return plain_string(v, ret_len);
}

size_t values_unescape(char *line, size_t len)
{
	size_t to = 0, from = 0;
	bool after_byte = false;

	while (from < len) {
		const char *p = line + from;
		int high, low;

		if (*p != '\\' || len - from < 2) {
			line[to++] = *p;
			from++;
			after_byte = false;
			continue;
		}
		high = len - from >= 6 && !memcmp(p, "\\u00", 4) ? hex(p[4]) : -1;
		low = high >= 8 ? hex(p[5]) : -1;
		if (low >= 0 && (high >= 10 || !after_byte)) {
			line[to++] = (char)(high << 4 | low);
			from += 6;
			after_byte = high >= 10;
			continue;
		}
		line[to++] = line[from++];
		line[to++] = line[from++];
		after_byte = false;
	}
	return to;
}
