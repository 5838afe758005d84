// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * json - marks and usages as JSON and back (SPEC 1.13, 1.15)
 */
#include "lib/exitmeter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/cursor.h"
#include "lib/number.h"

/* --- writing ------------------------------------------------------------------------------- */

struct text {
	char *buf;
	size_t cap, len;
};

static struct text text_in(char *buf, size_t cap)
{
	return (struct text){ .buf = buf, .cap = cap };
}

static void put(struct text *t, const char *s, size_t len)
{
	if (t->len < t->cap) {
		size_t room = t->cap - t->len;

		memcpy(t->buf + t->len, s, len < room ? len : room);
	}
	t->len += len;
}

static void put_text(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

static void put_int(struct text *t, int64_t v)
{
	char s[EM_NUMBER_MAX];

	put(t, s, (size_t)snprintf(s, sizeof(s), "%" PRId64, v));
}

static void put_double(struct text *t, double v)
{
	char s[EM_NUMBER_MAX];

	put(t, s, em_double_text(isfinite(v) ? v : -1, s)); /* U-102 */
}

/* Ends it as snprintf does. */
static int finish(struct text *t)
{
	if (t->cap)
		t->buf[t->len < t->cap ? t->len : t->cap - 1] = '\0';
	return (int)t->len;
}

int em_marks_json(const struct em_mark *aged, size_t n, char *buf, size_t cap)
{
	struct text t = text_in(buf, cap);

	put(&t, "[", 1);
	for (size_t i = 0; i < n; i++) {
		put(&t, ",[", i ? 2 : 0);
		put(&t, "[", i ? 0 : 1);
		put_double(&t, aged[i].at);
		put(&t, ",", 1);
		put_int(&t, aged[i].rss < 0 ? -1 : aged[i].rss);
		put(&t, ",", 1);
		put_double(&t, aged[i].cpu);
		put(&t, ",", 1);
		put_double(&t, aged[i].cpus);
		put(&t, "]", 1);
	}
	put(&t, "]", 1);
	return finish(&t);
}

static void put_known(struct text *t, const char *key, double v)
{
	put_text(t, key);
	if (isfinite(v) && v >= 0)
		put_double(t, v);
	else
		put_text(t, "null");
}

int em_usage_json(const struct em_usage *u, char *buf, size_t cap)
{
	struct text t = text_in(buf, cap);

	put_text(&t, "{\"peak_rss_bytes\":");
	if (u->peak_rss_bytes >= 0)
		put_int(&t, u->peak_rss_bytes);
	else
		put_text(&t, "null");
	put_known(&t, ",\"cpu_seconds\":", u->cpu_seconds);
	put_known(&t, ",\"peak_cpus\":", u->peak_cpus);
	put_text(&t, "}");
	return finish(&t);
}

/* --- reading ------------------------------------------------------------------------------- */

/* [age,rss,cpu,cpus], the bracket taken. */
static bool take_row(struct em_cursor *c, struct em_mark *m)
{
	return em_take_double(c, &m->at) && em_take(c, ',') && em_take_int(c, &m->rss) &&
	       m->rss >= -1 && em_take(c, ',') && em_take_double(c, &m->cpu) && em_take(c, ',') &&
	       em_take_double(c, &m->cpus) && em_take(c, ']');
}

int em_marks_parse(const char *json, size_t len, struct em_mark *out, size_t cap)
{
	struct em_cursor c = { json, json + len };
	double before = INFINITY;
	int n = 0;

	if (!em_take(&c, '['))
		return EM_ESYNTAX;
	if (em_take(&c, ']'))
		return em_at_end(&c) ? 0 : EM_ESYNTAX;
	do {
		struct em_mark m;

		if (!em_take(&c, '['))
			return EM_ESYNTAX;
		if (n == EM_MARKS_PARSE_MAX)
			return EM_EROWS;
		if (!take_row(&c, &m))
			return EM_EROW;
		if (m.at > before)
			return EM_EORDER;
		if ((size_t)n == cap)
			return EM_EROOM;
		before = m.at;
		out[n++] = m;
	} while (em_take(&c, ','));
	return em_take(&c, ']') && em_at_end(&c) ? n : EM_ESYNTAX;
}

static bool is_key(const char *text, size_t len, const char *key)
{
	return len == strlen(key) && !memcmp(text, key, len);
}

/* Null, or a value that is none below 0. */
static bool take_known(struct em_cursor *c, double *ret)
{
	*ret = -1;
	return em_take_word(c, "null") || (em_take_double(c, ret) && *ret >= 0);
}

static int take_member(struct em_cursor *c, struct em_usage *u)
{
	const char *key;
	size_t len;
	bool ok;

	if (!em_take_string(c, &key, &len) || !em_take(c, ':'))
		return EM_ESYNTAX;
	if (is_key(key, len, "peak_rss_bytes")) {
		u->peak_rss_bytes = -1;
		ok = em_take_word(c, "null") ||
		     (em_take_int(c, &u->peak_rss_bytes) && u->peak_rss_bytes >= 0);
	} else if (is_key(key, len, "cpu_seconds")) {
		ok = take_known(c, &u->cpu_seconds);
	} else if (is_key(key, len, "peak_cpus")) {
		ok = take_known(c, &u->peak_cpus);
	} else {
		return em_skip_value(c) ? EM_OK : EM_ESYNTAX;
	}
	return ok ? EM_OK : EM_EVALUE;
}

int em_usage_parse(const char *json, size_t len, struct em_usage *ret)
{
	struct em_cursor c = { json, json + len };
	struct em_usage u = { -1, -1, -1 };
	int err;

	if (!em_take(&c, '{'))
		return EM_ESYNTAX;
	if (!em_take(&c, '}')) {
		do {
			err = take_member(&c, &u);
			if (err)
				return err;
		} while (em_take(&c, ','));
		if (!em_take(&c, '}'))
			return EM_ESYNTAX;
	}
	if (!em_at_end(&c))
		return EM_ESYNTAX;
	*ret = u;
	return EM_OK;
}

const char *em_error_text(int err)
{
	switch (err) {
	case EM_ESYNTAX:
		return "not JSON of this form";
	case EM_EROW:
		return "a mark is not four numbers, its second an integer";
	case EM_EROWS:
		return "more marks than a meter keeps";
	case EM_EORDER:
		return "an age is larger than the one before";
	case EM_EROOM:
		return "more marks than there is room for";
	case EM_EVALUE:
		return "a member is no number of its kind";
	default:
		return err < 0 ? "not known" : "no error";
	}
}
