// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lines_init(struct lines *l, FILE *in)
{
	*l = (struct lines){ .in = in, .tokener = json_tokener_new() };
	if (!l->tokener)
		return -ENOMEM;
	json_tokener_set_flags(l->tokener, JSON_TOKENER_STRICT);
	return 0;
}

void lines_free(struct lines *l)
{
	if (l->tokener)
		json_tokener_free(l->tokener);
	free(l->buf);
}

static const char start[] = "{\"event\":\"run_start\"", end[] = "{\"event\":\"summary\"";

static size_t most(const struct lines *l)
{
	if (l->len < sizeof(start) || (memcmp(l->buf, start, sizeof(start) - 1) != 0 &&
				       memcmp(l->buf, end, sizeof(end) - 1) != 0))
		return JOURNAL_LINE_MAX;
	return JOURNAL_LONG_LINE_MAX;
}

static int make_room(struct lines *l)
{
	size_t cap = l->cap ? 2 * l->cap : 4096;
	char *buf = realloc(l->buf, cap);

	if (!buf)
		return -ENOMEM;
	l->buf = buf;
	l->cap = cap;
	return 0;
}

/* Not getline: a line without end would take all memory.  1: it is whole; 0: the end; -errno. */
static int take_bytes(struct lines *l)
{
	int c;

	while ((c = getc_unlocked(l->in)) != EOF && c != '\n') {
		l->pos++;
		if (l->too_long)
			continue;
		if (l->len == l->cap && make_room(l))
			return -ENOMEM;
		l->buf[l->len++] = (char)c;
		if (l->len > JOURNAL_LINE_MAX && l->len > most(l))
			l->too_long = true;
	}
	if (c == EOF && ferror(l->in))
		return errno ? -errno : -EIO;
	l->pos += c == '\n';
	return c == '\n';
}

/* Half a line and another journal's first; in a text the quotes would be escaped. */
static void look_for_rest(struct lines *l)
{
	char *found = l->too_long || l->len < sizeof(start)
			      ? NULL
			      : memmem(l->buf + 1, l->len - 1, start, sizeof(start) - 1);

	if (!found)
		return;
	l->rest_at = (size_t)(found - l->buf);
	l->rest = l->len - l->rest_at;
	l->rest_whole = l->whole;
	l->len = l->rest_at;
	l->whole = false;
}

/* What lies behind the line, whose text may have become shorter, is the next. */
static void take_rest(struct lines *l)
{
	l->at = l->pos - (off_t)l->rest - l->rest_whole;
	memmove(l->buf, l->buf + l->rest_at, l->rest);
	l->len = l->rest;
	l->whole = l->rest_whole;
	l->rest = 0;
	look_for_rest(l);
}

int lines_next(struct lines *l)
{
	int got;

	if (l->again) {
		l->again = false;
		return 1;
	}
	if (l->rest) {
		take_rest(l);
		return 1;
	}
	l->len = 0;
	l->too_long = false;
	l->at = l->pos;
	got = take_bytes(l);
	l->whole = got > 0;
	if (got < 0 || (!got && !l->len))
		return got;
	l->n++;
	look_for_rest(l);
	return 1;
}

void lines_put_back(struct lines *l)
{
	l->again = true;
}

int lines_follow(struct lines *l)
{
	int got;

	if (l->rest) {
		take_rest(l);
		return 1;
	}
	if (!l->begun) {
		l->len = 0;
		l->too_long = false;
	}
	got = take_bytes(l);
	l->whole = got > 0;
	l->begun = !got;
	if (got > 0)
		look_for_rest(l);
	if (!got)
		clearerr(l->in);
	l->n += got > 0;
	return got;
}

int lines_parse(struct lines *l, json_object **ret, const char **ret_event, struct why *why)
{
	enum json_tokener_error err;
	json_object *o, *event;

	*ret = NULL;
	*ret_event = "";
	if (l->too_long)
		return why_set(why, "the line is too long");
	if (!l->len)
		return why_set(why, "the line is empty");
	l->len = values_unescape(l->buf, l->len);
	json_tokener_reset(l->tokener);
	o = json_tokener_parse_ex(l->tokener, l->buf, (int)l->len);
	err = json_tokener_get_error(l->tokener);
	if (err == json_tokener_continue)
		return why_set(why, "not JSON: it ends too soon");
	if (err != json_tokener_success || json_tokener_get_parse_end(l->tokener) != l->len) {
		json_object_put(o);
		return why_set(why, "not JSON: %s",
			       err == json_tokener_success ? "more behind it"
							   : json_tokener_error_desc(err));
	}
	if (!json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, "event", &event) ||
	    !json_object_is_type(event, json_type_string)) {
		json_object_put(o);
		return why_set(why, "no event of a journal");
	}
	*ret = o;
	*ret_event = json_object_get_string(event);
	return 0;
}
