// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_stretch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"
#include "model/spans.h"
#include "report/fields.h"

#define ID_TEXT_MAX 32

/* A blank one named by @key, a text or an integer.  NULL with *@ret_err. */
static struct stretch *add(json_object *o, const char *key, struct stretches *all, int *ret_err,
			   struct why *why)
{
	struct stretch *s;
	char number[ID_TEXT_MAX];
	const char *text = NULL;
	json_object *v = NULL;
	size_t len = 0;
	int64_t id;

	if (json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_int)) {
		id = json_object_get_int64(v);
		text = number;
		len = (size_t)snprintf(number, sizeof(number), "%" PRId64, id);
	} else if (v) {
		text = value_text(v, &len);
	}
	*ret_err = 0;
	if (!text)
		*ret_err = why_set(why, "%s is no name", key);
	else if (all->n > STRETCHES_MAX)
		*ret_err = why_set(why, "more than %d of them", STRETCHES_MAX);
	if (*ret_err)
		return NULL;
	s = stretch_add(all, text, len);
	if (!s)
		*ret_err = -ENOMEM;
	return s;
}

static int take_time(json_object *o, const char *key, int64_t *ret, struct why *why)
{
	json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	return value_ns(v, TIME_NONE, ret) ? why_set(why, "%s is not seconds or null", key) : 0;
}

static int read_rss_at(json_object *o, struct stretch *s, struct why *why)
{
	json_object *list;
	int err = value_child(o, "rss_at", json_type_object, &list, why);

	if (err || !list)
		return err;
	if (json_object_object_length(list) > RSS_AT_MAX)
		return why_set(why, "rss_at is too long");
	s->rss_at = calloc((size_t)json_object_object_length(list) + 1, sizeof(*s->rss_at));
	if (!s->rss_at)
		return -ENOMEM;
	json_object_object_foreach(list, name, v)
	{
		struct rss_at *at = &s->rss_at[s->n_rss_at];

		(void)v;
		at->rss_bytes = UNKNOWN;
		err = value_int(list, name, &at->rss_bytes, why);
		if (err)
			return err;
		at->name = strdup(name);
		if (!at->name)
			return -ENOMEM;
		s->n_rss_at++;
	}
	return 0;
}

static int read_used(json_object *o, struct stretch *s, struct why *why)
{
	json_object *resources = NULL;
	int err = value_object(o, "usage", s, &stretch_usage_fields, why);

	if (!err)
		err = value_child(o, "resources", json_type_object, &resources, why);
	if (err || !resources)
		return err;
	err = value_fields(resources, s, &stretch_peak_fields, why);
	if (!err)
		err = value_object(resources, "rss_split_bytes", &s->split, &split_fields, why);
	if (!err)
		err = read_rss_at(resources, s, why);
	if (!err)
		err = value_fields(resources, s, &stretch_counter_fields, why);
	if (!err)
		err = value_object(resources, "io", &s->used.io, &io_fields, why);
	if (!err && json_object_object_get_ex(resources, "disk", NULL))
		err = value_object(resources, "disk", &s->disk, &disk_fields, why);
	return err;
}

static int read_phase(json_object *o, struct stretches *all, struct why *why)
{
	int err;
	struct stretch *s = add(o, "name", all, &err, why);

	if (!s)
		return err;
	err = take_time(o, "at", &s->started_ns, why);
	if (!err)
		err = take_time(o, "ended", &s->ended_ns, why);
	if (!err)
		err = value_int(o, "rss_bytes", &s->rss_bytes, why);
	return err ? err : read_used(o, s, why);
}

/* An age becomes a time of the run. */
static int take_age(json_object *o, const char *key, int64_t aged_ns, int64_t *ret, struct why *why)
{
	int64_t age = TIME_NONE;
	int err = take_time(o, key, &age, why);

	if (!err && age != TIME_NONE && __builtin_sub_overflow(aged_ns, age, ret))
		err = why_set(why, "%s is no time", key);
	return err;
}

static int read_attempt(json_object *o, int64_t aged_ns, struct stretches *all, struct why *why)
{
	int err;
	struct stretch *s = add(o, "id", all, &err, why);

	if (!s)
		return err;
	err = take_age(o, "started", aged_ns, &s->started_ns, why);
	if (!err)
		err = take_age(o, "ended", aged_ns, &s->ended_ns, why);
	return err ? err : read_used(o, s, why);
}

int values_stretches(json_object *o, int64_t aged_ns, struct summary *s, struct why *why)
{
	json_object *phases, *attempts;
	int err = value_child(o, "phases", json_type_array, &phases, why);

	if (!err)
		err = value_child(o, "attempts", json_type_array, &attempts, why);
	for (size_t i = 0; !err && phases && i < json_object_array_length(phases); i++) {
		json_object *one = json_object_array_get_idx(phases, i);

		err = json_object_is_type(one, json_type_object)
			      ? read_phase(one, &s->phases, why)
			      : why_set(why, "phases holds what is no object");
	}
	for (size_t i = 0; !err && attempts && i < json_object_array_length(attempts); i++) {
		json_object *one = json_object_array_get_idx(attempts, i);

		err = json_object_is_type(one, json_type_object)
			      ? read_attempt(one, aged_ns, &s->attempts, why)
			      : why_set(why, "attempts holds what is no object");
	}
	if (!err)
		err = value_int(o, "phases_omitted", &s->phases.omitted, why);
	if (!err)
		err = value_int(o, "attempts_omitted", &s->attempts.omitted, why);
	if (s->phases.omitted < 0 || s->attempts.omitted < 0)
		s->phases.omitted = s->attempts.omitted = 0;
	s->aged_ns = aged_ns;
	return err;
}

/* --- lines --------------------------------------------------------------------------------- */

static int take_phase(struct told_stretches *t, json_object *o, int64_t at_ns, struct why *why)
{
	struct stretch *before = t->phases.last, *s;
	int err;

	s = add(o, "name", &t->phases, &err, why);
	if (!s)
		return err;
	s->started_ns = at_ns;
	err = value_int(o, "rss_bytes", &s->rss_bytes, why);
	/* A run in the middle of others begins nothing: see request_run_counts. */
	if (!err && name_is_middle_run(s->name, strlen(s->name)))
		stretch_remove(&t->phases, s);
	else if (before)
		before->ended_ns = at_ns;
	stretches_settle(&t->phases, INT64_MAX);
	return err;
}

static int take_end(struct told_stretches *t, json_object *o, int64_t at_ns, struct why *why)
{
	struct stretch *s, *begun;
	int err;

	s = add(o, "id", &t->ended, &err, why);
	if (!s)
		return err;
	s->ended_ns = at_ns;
	err = take_time(o, "at", &s->started_ns, why);
	if (!err && s->started_ns == TIME_NONE)
		err = why_set(why, "an end without its start");
	if (!err)
		err = read_used(o, s, why);
	begun = stretch_open(&t->open, s->name, strlen(s->name));
	if (begun)
		stretch_remove(&t->open, begun);
	stretches_settle(&t->ended, INT64_MAX);
	return err;
}

int told_take(struct told_stretches *t, const char *event, json_object *o, int64_t at_ns,
	      struct why *why)
{
	struct stretch *s;
	int err;

	if (!strcmp(event, "phase"))
		return take_phase(t, o, at_ns, why);
	if (!strcmp(event, "attempt_end"))
		return take_end(t, o, at_ns, why);
	s = add(o, "id", &t->open, &err, why);
	if (s)
		s->started_ns = at_ns;
	return err;
}

int told_finish(struct told_stretches *t, bool all, struct summary *s)
{
	int err;

	stretches_move(&s->attempts, &t->ended);
	if (!all) {
		stretches_move(&s->attempts, &t->open);
		stretches_move(&s->phases, &t->phases);
		return 0;
	}
	err = spans_attribute(s, &t->open, &s->attempts);
	return err ? err : spans_attribute(s, &t->phases, &s->phases);
}

void told_free(struct told_stretches *t)
{
	stretches_free(&t->phases);
	stretches_free(&t->ended);
	stretches_free(&t->open);
}
