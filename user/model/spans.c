// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/spans.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cursor.h"
#include "lib/exitmeter.h"
#include "units.h"

#define ID_MAX      1024
#define SECONDS_MAX 1e9 /* 31 years */

/* --- a line -------------------------------------------------------------------------------- */

/* @n digits, no sign or space. */
static bool take_digits(const char **at, const char *end, int n, int *ret)
{
	int v = 0;

	for (; n; n--, ++*at) {
		if (*at == end || **at < '0' || **at > '9')
			return false;
		v = v * 10 + (**at - '0');
	}
	*ret = v;
	return true;
}

static bool take_char(const char **at, const char *end, const char *one_of)
{
	if (*at == end || !**at || !strchr(one_of, **at))
		return false;
	++*at;
	return true;
}

/* Digits behind the point, as ns; more than nine are cut. */
static bool take_fraction(const char **at, const char *end, int64_t *ret_ns)
{
	int64_t unit = NS_PER_S / 10, ns = 0;
	const char *from = *at;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at, unit /= 10)
		ns += unit * (**at - '0');
	*ret_ns = ns;
	return *at > from;
}

static bool take_offset(const char **at, const char *end, int64_t *ret_s)
{
	int hours, minutes;
	bool behind;

	*ret_s = 0;
	if (take_char(at, end, "Zz"))
		return true;
	behind = *at < end && **at == '-';
	if (!take_char(at, end, "+-") || !take_digits(at, end, 2, &hours) ||
	    !take_char(at, end, ":") || !take_digits(at, end, 2, &minutes) || hours > 23 ||
	    minutes > 59)
		return false;
	*ret_s = (behind ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

/* RFC 3339, as ns since the epoch. */
static bool wall_clock(const char *at, size_t len, int64_t *ret_ns)
{
	const char *end = at + len;
	struct tm tm = { 0 };
	int64_t fraction = 0, offset;

	if (!take_digits(&at, end, 4, &tm.tm_year) || !take_char(&at, end, "-") ||
	    !take_digits(&at, end, 2, &tm.tm_mon) || !take_char(&at, end, "-") ||
	    !take_digits(&at, end, 2, &tm.tm_mday) || !take_char(&at, end, "Tt ") ||
	    !take_digits(&at, end, 2, &tm.tm_hour) || !take_char(&at, end, ":") ||
	    !take_digits(&at, end, 2, &tm.tm_min) || !take_char(&at, end, ":") ||
	    !take_digits(&at, end, 2, &tm.tm_sec))
		return false;
	if (take_char(&at, end, ".") && !take_fraction(&at, end, &fraction))
		return false;
	if (!take_offset(&at, end, &offset) || at != end)
		return false;
	if (tm.tm_year < 1970 || tm.tm_year > 2200 || tm.tm_mon < 1 || tm.tm_mon > 12 ||
	    tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*ret_ns = ((int64_t)timegm(&tm) - offset) * NS_PER_S + fraction;
	return true;
}

static const char *take_time(struct em_cursor *c, int64_t started_at_ns, int64_t *ret)
{
	const char *text;
	size_t len;
	int64_t ns;
	double s;

	if (em_take_string(c, &text, &len)) {
		if (!wall_clock(text, len, &ns))
			return "a time that is not RFC 3339";
		if (started_at_ns < 0)
			return "a time of day, but the run's start is not known";
		*ret = ns - started_at_ns;
		return NULL;
	}
	if (!em_take_double(c, &s) || !(fabs(s) <= SECONDS_MAX))
		return "a time is neither seconds nor RFC 3339";
	*ret = (int64_t)llround(s * (double)NS_PER_S);
	return NULL;
}

struct line {
	char id[ID_MAX];
	size_t id_len;
	bool has_id, has_start;
	int64_t started_ns, ended_ns;
};

static const char *take_id(struct em_cursor *c, struct line *l)
{
	const char *text;
	size_t len;
	int64_t number;

	if (em_take_string(c, &text, &len)) {
		l->id_len = em_unescape(text, len, l->id, sizeof(l->id));
		if (l->id_len > sizeof(l->id))
			return "an id that is too long, or no string";
		if (!l->id_len || memchr(l->id, '\0', l->id_len))
			return "an id that is empty, or has a NUL";
	} else if (em_take_int(c, &number)) {
		l->id_len = (size_t)snprintf(l->id, sizeof(l->id), "%lld", (long long)number);
	} else {
		return "an id is neither an integer nor a string";
	}
	l->has_id = true;
	return NULL;
}

static bool is_key(const char *text, size_t len, const char *key)
{
	return len == strlen(key) && !memcmp(text, key, len);
}

static const char *take_member(struct em_cursor *c, int64_t started_at_ns, struct line *l)
{
	const char *key, *why;
	size_t len;

	if (!em_take_string(c, &key, &len) || !em_take(c, ':'))
		return "not a JSON object";
	if (is_key(key, len, "id"))
		return take_id(c, l);
	if (is_key(key, len, "started")) {
		why = take_time(c, started_at_ns, &l->started_ns);
		l->has_start = !why;
		return why;
	}
	if (is_key(key, len, "ended"))
		return em_take_word(c, "null") ? NULL : take_time(c, started_at_ns, &l->ended_ns);
	return em_skip_value(c) ? NULL : "not a JSON object";
}

static const char *parse(struct em_cursor *c, int64_t started_at_ns, struct line *l)
{
	const char *why = NULL;

	if (!em_take(c, '{'))
		return "not a JSON object";
	if (!em_take(c, '}')) {
		do
			why = take_member(c, started_at_ns, l);
		while (!why && em_take(c, ','));
		if (!why && !em_take(c, '}'))
			return "not a JSON object";
	}
	if (why)
		return why;
	if (!em_at_end(c))
		return "something behind the object";
	if (!l->has_id || !l->has_start)
		return l->has_id ? "there is no start" : "there is no id";
	return l->ended_ns != TIME_NONE && l->ended_ns < l->started_ns ? "it ends before it starts"
								       : NULL;
}

const char *span_parse(const char *line, size_t len, int64_t started_at_ns, struct stretches *all)
{
	struct em_cursor c = { line, line + len };
	struct line l = { .ended_ns = TIME_NONE };
	struct stretch *s;
	const char *why;

	if (em_at_end(&c))
		return NULL;
	why = parse(&c, started_at_ns, &l);
	if (why)
		return why;
	if (all->n == SPANS_MAX)
		return "too many attempts";
	s = stretch_add(all, l.id, l.id_len);
	if (!s)
		return "out of memory";
	s->started_ns = l.started_ns;
	s->ended_ns = l.ended_ns;
	return NULL;
}

/* --- shares -------------------------------------------------------------------------------- */

static double age(const struct summary *s, int64_t at_ns)
{
	return (double)(s->aged_ns - at_ns) / (double)NS_PER_S;
}

static size_t exits_of(const struct summary *s, struct em_exit *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct process *p = s->rows[i];

		if (p->started_ns == TIME_NONE || p->ended_ns == TIME_NONE)
			continue;
		out[n++] = (struct em_exit){ age(s, p->started_ns), age(s, p->ended_ns),
					     p->peak_rss_bytes,
					     p->cpu_ns < 0 ? -1
							   : (double)p->cpu_ns / (double)NS_PER_S };
	}
	return n;
}

static void take_share(struct stretch *to, const struct em_usage *u, const struct em_usage *sampled)
{
	to->peak_rss_bytes = to->peak_sum_bytes = u->peak_rss_bytes;
	if (u->peak_rss_bytes >= 0)
		to->source = u->peak_rss_bytes > sampled->peak_rss_bytes ? PEAK_EXIT : PEAK_MARKS;
	to->sum_source = to->source;
	if (u->cpu_seconds >= 0)
		to->used.cpu_ns = (int64_t)llround(u->cpu_seconds * (double)NS_PER_S);
	to->peak_cpus = u->peak_cpus;
}

int spans_attribute(struct summary *s, struct stretches *all, struct stretches *into)
{
	struct em_span *spans = calloc(all->n + 1, sizeof(*spans));
	struct em_usage *usages = calloc(2 * (all->n + 1), sizeof(*usages)), *sampled;
	struct em_exit *exits = calloc(s->n_rows + 1, sizeof(*exits));
	int64_t largest = s->usage.peak_process_bytes;
	size_t i = 0, k;

	if (!spans || !usages || !exits) {
		free(spans);
		free(usages);
		free(exits);
		return -ENOMEM;
	}
	for (struct stretch *a = all->first; a; a = a->next, i++) {
		if (a->ended_ns != TIME_NONE && a->ended_ns > s->aged_ns)
			a->ended_ns = TIME_NONE; /* it had not ended when the run did */
		spans[i].id = (int64_t)i;
		spans[i].started = age(s, a->started_ns);
		spans[i].ended = a->ended_ns == TIME_NONE ? -1 : age(s, a->ended_ns);
	}
	k = exits_of(s, exits);
	sampled = usages + all->n;
	em_attribute_exits(s->marks, s->n_marks, largest, exits, k, spans, all->n, usages);
	em_attribute(s->marks, s->n_marks, -1, spans, all->n, sampled);
	i = 0;
	for (struct stretch *a = all->first; a; a = a->next, i++)
		take_share(a, &usages[i], &sampled[i]);
	stretches_move(into, all);
	free(spans);
	free(usages);
	free(exits);
	return 0;
}
