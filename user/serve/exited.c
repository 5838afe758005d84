// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/exited.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cursor.h"
#include "units.h"

enum member {
	MEMBER_RUN,
	MEMBER_PID,
	MEMBER_WORKER,
	MEMBER_START,
	MEMBER_MAX_RSS,
	MEMBER_MARKS,
	MEMBER_EXITS,
	MEMBERS,
};

static const char *const names[MEMBERS] = { "run",     "pid",   "worker", "start",
					    "max_rss", "marks", "exits" };

struct reading {
	struct em_cursor at;
	struct exited *exited;
	bool seen[MEMBERS];
	char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reading *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, EXITED_WHY_MAX, format, args);
	va_end(args);
	return -EBADMSG;
}

/* --- values -------------------------------------------------------------------------------- */

static int take_integer(struct reading *r, const char *name, int64_t least, int64_t *ret)
{
	if (!em_take_int(&r->at, ret) || *ret < least)
		return refuse(r, "%s is not an integer from %" PRId64 " on", name, least);
	return 0;
}

/* UTF-8 without control characters: nothing of it would have to be escaped but backslashes. */
static bool is_plain(const char *text, size_t len)
{
	size_t backslashes = 0;

	for (size_t i = 0; i < len; i++)
		backslashes += text[i] == '\\';
	return plain_text(text, len, NULL, 0) == (int)(len + backslashes);
}

/* A number or a name. */
static int take_run(struct reading *r)
{
	struct exited *e = r->exited;
	const char *text;
	size_t len;
	int64_t number;

	if (em_take_int(&r->at, &number)) {
		snprintf(e->run, sizeof(e->run), "%" PRId64, number);
		e->run_is_number = true;
		return 0;
	}
	if (!em_take_string(&r->at, &text, &len))
		return refuse(r, "run is neither an integer nor a string");
	len = em_unescape(text, len, e->run, EXITED_RUN_MAX);
	if (!len || len > EXITED_RUN_MAX || !is_plain(e->run, len))
		return refuse(r, "run is empty, longer than %d bytes, or no plain text",
			      EXITED_RUN_MAX);
	e->run[len] = '\0';
	return 0;
}

/* -1 is not known (SPEC U-102): what the CPU was then lies on the line between its neighbours. */
static void fill_cpu(em_mark *m, size_t n, size_t from, size_t to)
{
	const em_mark *a = from < n ? &m[from] : &m[to], *b = to < n ? &m[to] : a;
	double span = a->at - b->at;

	for (size_t i = from < n ? from + 1 : 0; i < to; i++)
		m[i].cpu =
			span > 0 ? a->cpu + (b->cpu - a->cpu) * (a->at - m[i].at) / span : a->cpu;
}

/* Nothing below 0 but -1, and a total that never falls. */
static int check_marks(struct reading *r)
{
	em_mark *m = r->exited->marks;
	size_t n = r->exited->n_marks, known = n; /* the last whose CPU is */

	for (size_t i = 0; i < n; i++) {
		if (m[i].rss < -1 || (m[i].cpu < 0 && m[i].cpu != -1) ||
		    (m[i].cpus < 0 && m[i].cpus != -1))
			return refuse(r, "mark %zu has what is below 0 and not -1", i + 1);
		if (m[i].cpu == -1)
			continue;
		if (known < n && m[i].cpu < m[known].cpu)
			return refuse(r, "mark %zu has less CPU than one before", i + 1);
		fill_cpu(m, n, known, i);
		known = i;
	}
	if (n && known == n)
		return refuse(r, "no mark's CPU is known");
	fill_cpu(m, n, known, n);
	return 0;
}

static int take_marks(struct reading *r)
{
	struct exited *e = r->exited;
	struct em_cursor from = r->at;
	int n;

	if (!em_skip_value(&r->at))
		return refuse(r, "marks is not JSON");
	n = em_marks_parse(from.at, (size_t)(r->at.at - from.at), e->marks, EM_MARKS_PARSE_MAX);
	if (n < 0)
		return refuse(r, "marks: %s", em_error_text(n));
	e->n_marks = (size_t)n;
	return check_marks(r);
}

/* The bracket taken. */
static bool take_exit(struct em_cursor *c, em_exit *e)
{
	return em_take_double(c, &e->started) && em_take(c, ',') && em_take_double(c, &e->ended) &&
	       em_take(c, ',') && em_take_int(c, &e->peak_rss) && em_take(c, ',') &&
	       em_take_double(c, &e->cpu) && em_take(c, ']') && e->peak_rss >= -1 &&
	       (e->cpu >= 0 || e->cpu == -1) && e->started >= e->ended;
}

static int take_exits(struct reading *r)
{
	struct exited *e = r->exited;

	if (!em_take(&r->at, '['))
		return refuse(r, "exits is no array");
	e->exits = calloc(EXITED_EXITS_MAX, sizeof(*e->exits));
	if (!e->exits)
		return -ENOMEM;
	if (em_take(&r->at, ']'))
		return 0;
	do {
		if (e->n_exits == EXITED_EXITS_MAX)
			return refuse(r, "more than %d exits", EXITED_EXITS_MAX);
		if (!em_take(&r->at, '[') || !take_exit(&r->at, &e->exits[e->n_exits]))
			return refuse(r,
				      "exit %zu is not two ages, the first no smaller, a peak and "
				      "CPU seconds",
				      e->n_exits + 1);
		e->n_exits++;
	} while (em_take(&r->at, ','));
	return em_take(&r->at, ']') ? 0 : refuse(r, "exits is not JSON");
}

/* --- members ------------------------------------------------------------------------------- */

static int take_value(struct reading *r, enum member member)
{
	struct exited *e = r->exited;

	if (r->seen[member])
		return refuse(r, "%s stands there twice", names[member]);
	r->seen[member] = true;
	switch (member) {
	case MEMBER_RUN:
		return take_run(r);
	case MEMBER_PID:
		return take_integer(r, "pid", 1, &e->pid);
	case MEMBER_WORKER:
		return take_integer(r, "worker", 0, &e->worker);
	case MEMBER_START:
		return take_integer(r, "start", 0, &e->start);
	case MEMBER_MAX_RSS:
		return take_integer(r, "max_rss", -1, &e->max_rss);
	case MEMBER_MARKS:
		return take_marks(r);
	case MEMBER_EXITS:
	case MEMBERS:
		break;
	}
	return take_exits(r);
}

static int take_member(struct reading *r)
{
	const char *key;
	size_t len;

	if (!em_take_string(&r->at, &key, &len) || !em_take(&r->at, ':'))
		return refuse(r, "not JSON");
	for (int i = 0; i < MEMBERS; i++)
		if (len == strlen(names[i]) && !memcmp(key, names[i], len))
			return take_value(r, (enum member)i);
	return em_skip_value(&r->at) ? 0 : refuse(r, "not JSON");
}

static int take_all(struct reading *r)
{
	int err = 0;

	if (!em_take(&r->at, '{'))
		return refuse(r, "not a JSON object");
	if (!em_take(&r->at, '}')) {
		do
			err = take_member(r);
		while (!err && em_take(&r->at, ','));
		if (!err && !em_take(&r->at, '}'))
			err = refuse(r, "not JSON");
	}
	if (!err && !em_at_end(&r->at))
		err = refuse(r, "something behind the JSON object");
	/* A fence that was forgotten would be none; what ended beside the marks may be unknown. */
	for (int i = 0; !err && i < MEMBER_EXITS; i++)
		if (!r->seen[i])
			err = refuse(r, "%s is missing", names[i]);
	return err;
}

int exited_parse(const char *json, size_t len, struct exited **ret, char why[EXITED_WHY_MAX])
{
	struct reading r = { .at = { json, json + len }, .why = why };
	int err;

	*why = '\0';
	*ret = NULL;
	r.exited = calloc(1, sizeof(*r.exited));
	err = r.exited ? take_all(&r) : -ENOMEM;
	if (err)
		exited_free(r.exited);
	else
		*ret = r.exited;
	return err;
}

void exited_free(struct exited *e)
{
	if (e)
		free(e->exits);
	free(e);
}
