// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_ended - the meter that is sent (SPEC U-101, U-102), and how it travels with a URL
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/ended.h"
#include "scheduler.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- as JSON ------------------------------------------------------------------------------- */

static struct em_mark marks[] = { { 6, -1, 0, -1 },
				  { 2.5, 838860800, 8.5, 3.9000000000000004 },
				  { NAN, 5, INFINITY, -INFINITY },
				  { 0.5, -1, 9, -1 } };
static struct em_exit exits[] = { { 5, 1.25, 4096, .125 }, { 4, 4, -1, -1 } };

static void as_json(void)
{
	static const struct {
		const char *what, *run;
		int64_t later_ns;
		const char *json;
	} cases[] = {
		{ "at once", "17", 0,
		  "{\"run\":17,\"pid\":4242,\"worker\":3,\"start\":2,\"max_rss\":900,"
		  "\"marks\":[[6,-1,0,-1],[2.5,838860800,8.5,3.9000000000000004],[-1,5,-1,-1],"
		  "[0.5,-1,9,-1]],\"exits\":[[5,1.25,4096,0.125],[4,4,-1,-1]]}" },
		{ "half a second later", "a \"b\"", NS_PER_S / 2,
		  "{\"run\":\"a \\\"b\\\"\",\"pid\":4242,\"worker\":3,\"start\":2,\"max_rss\":900,"
		  "\"marks\":[[6.5,-1,0,-1],[3,838860800,8.5,3.9000000000000004],[-1,5,-1,-1],"
		  "[1,-1,9,-1]],\"exits\":[[5.5,1.75,4096,0.125],[4.5,4.5,-1,-1]]}" },
	};
	struct ended x = { .pid = 4242,
			   .worker = 3,
			   .start = 2,
			   .max_rss = 900,
			   .marks = marks,
			   .n_marks = COUNT(marks),
			   .exits = exits,
			   .n_exits = COUNT(exits),
			   .aged_ns = 77 * NS_PER_S };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct json j;

		json_init(&j);
		x.run = (char *)cases[i].run;
		ended_json(&j, &x, x.aged_ns + cases[i].later_ns);
		EQ_S(json_text(&j), cases[i].json, "%s", cases[i].what);
		json_free(&j);
	}
}

/* --- processes ----------------------------------------------------------------------------- */

static bool has(const struct ended *x, double started)
{
	for (size_t i = 0; i < x->n_exits; i++)
		if (x->exits[i].started == started)
			return true;
	return false;
}

static void largest(size_t n)
{
	struct ended x = { 0 };
	size_t lost = 0;
	int err = 0;

	/* The peaks rise, the CPU falls: the first and the last are the largest. */
	for (size_t i = 0; i < n; i++)
		err |= ended_add(&x,
				 &(struct em_exit){ (double)i, 0, (int64_t)i, (double)(n - i) });
	EQ_I(err, 0, "%zu processes", n);
	OK(x.exits_cap <= (size_t)2 * ENDED_EXITS_MAX, "%zu: memory is limited", n);
	ended_settle(&x);
	EQ_I(x.n_exits, n < ENDED_EXITS_MAX ? n : ENDED_EXITS_MAX, "%zu: as many are kept", n);
	for (size_t i = 0; i < n && i < ENDED_EXITS_MAX / 2; i++)
		lost += !has(&x, (double)i) + !has(&x, (double)(n - 1 - i));
	EQ_I(lost, 0, "%zu: none of the largest is lost", n);
	ended_free(&x);
}

/* --- targets ------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void round_trip(const char *what, const struct scheduler *s)
{
	char *target = scheduler_target(s, "postgresql://h/d");
	struct scheduler got = { 0 };

	OK(target && !strchr(target, '\n'), "%s: one line", what);
	EQ_I(target ? scheduler_of_target(target, &got) : 1, 0, "%s: read back", what);
	EQ_S(target, "postgresql://h/d", "%s: the URL", what);
	EQ_I(got.on, s->on, "%s: asked for", what);
	EQ_I(got.worker, s->worker, "%s: the worker", what);
	EQ_I(got.start, s->start, "%s: the start", what);
	OK(same_text(got.start_env, s->start_env), "%s: the variable", what);
	OK(same_text(got.select_sql, s->select_sql), "%s: the select", what);
	OK(same_text(got.update_sql, s->update_sql), "%s: the update", what);
	scheduler_free(&got);
	free(target);
}

static void targets(void)
{
	static const char *const bad[] = {
		"u\tworker=x",   "u\tworker=-1", "u\tworker",       "u\tstart=99999999999999999999",
		"u\tselect=%zz", "u\tselect=%0", "u\tselect=a%00b", "u\tselect=a\tselect=b",
		"u\tother=1",    "u\t",
	};
	struct scheduler got;

	round_trip("none", &(struct scheduler){ 0 });
	round_trip("all",
		   &(struct scheduler){ true, 3, 9, "START_NO", "select\t'100%'\n;", "\x7fu\r" });
	round_trip("defaults", &(struct scheduler){ .on = true });
	for (size_t i = 0; i < COUNT(bad); i++) {
		char *text = strdup(bad[i]);

		EQ_I(text ? scheduler_of_target(text, &got) : 0, -EBADMSG, "refused: %s", bad[i]);
		scheduler_free(&got);
		free(text);
	}
}

int main(void)
{
	as_json();
	largest(0);
	largest(10);
	largest(ENDED_EXITS_MAX);
	largest(ENDED_EXITS_MAX + 1);
	largest((size_t)5 * ENDED_EXITS_MAX + 3);
	targets();
	return tap_done();
}
