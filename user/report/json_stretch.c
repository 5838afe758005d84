// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_stretch.h"

#include <string.h>

#include "model/request.h"
#include "report/fields.h"
#include "report/json_fields.h"

void json_attempt_id(struct json *j, const char *id, size_t len)
{
	int64_t number;

	if (name_is_integer(id, len, &number))
		json_int(j, number);
	else
		json_string(j, id, len);
}

static void write_rss_at(struct json *j, const struct stretch *s)
{
	json_key(j, "rss_at");
	json_open(j);
	for (size_t i = 0; i < s->n_rss_at; i++) {
		/* Keys are a user's words: escaped. */
		json_cstring(j, s->rss_at[i].name);
		json_colon(j);
		json_count(j, s->rss_at[i].rss_bytes);
	}
	json_close(j);
}

void json_stretch_members(struct json *j, const struct stretch *s, const char *io_source)
{
	json_fields_object(j, "usage", s, &stretch_usage_fields);
	json_key(j, "resources");
	json_open(j);
	json_fields(j, s, &stretch_peak_fields);
	json_fields_object(j, "rss_split_bytes", &s->split, &split_fields);
	write_rss_at(j, s);
	json_fields(j, s, &stretch_counter_fields);
	json_key(j, "io");
	json_open(j);
	json_key(j, "source");
	json_cstring(j, s->used.io.rchar < 0 ? NULL : io_source);
	json_fields(j, &s->used.io, &io_fields);
	json_close(j);
	if (s->disk.path)
		json_fields_object(j, "disk", &s->disk, &disk_fields);
	json_close(j);
}

/* An age: before the moment that all ages of the document count from. */
static void write_age(struct json *j, const struct summary *s, const char *key, int64_t at_ns)
{
	json_key(j, key);
	if (at_ns == TIME_NONE)
		json_null(j);
	else
		json_ns(j, s->aged_ns - at_ns);
}

static void write_omitted(struct json *j, const char *key, int64_t n)
{
	if (!n)
		return;
	json_key(j, key);
	json_int(j, n);
}

void json_stretches(struct json *j, const struct summary *s)
{
	json_key(j, "phases");
	json_array(j);
	for (const struct stretch *p = s->phases.first; p; p = p->next) {
		json_open(j);
		json_key(j, "name");
		json_cstring(j, p->name);
		json_time(json_key(j, "at"), p->started_ns);
		json_time(json_key(j, "ended"), p->ended_ns);
		json_count(json_key(j, "rss_bytes"), p->rss_bytes);
		json_stretch_members(j, p, s->usage.io_source);
		json_close(j);
	}
	json_array_end(j);
	write_omitted(j, "phases_omitted", s->phases.omitted);
	json_key(j, "attempts");
	json_array(j);
	for (const struct stretch *a = s->attempts.first; a; a = a->next) {
		json_open(j);
		json_key(j, "id");
		json_attempt_id(j, a->name, strlen(a->name));
		write_age(j, s, "started", a->started_ns);
		write_age(j, s, "ended", a->ended_ns);
		json_stretch_members(j, a, s->usage.io_source);
		json_close(j);
	}
	json_array_end(j);
	write_omitted(j, "attempts_omitted", s->attempts.omitted);
}
