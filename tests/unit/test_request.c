// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_request - lines of the control channel (INTERFACE 7), and which runs are looked at
 */
#include <stdint.h>
#include <string.h>

#include "model/request.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *line, *why; /* NULL: taken */
	enum request_kind kind;
	const char *name;
	uint64_t run, runs;
} lines[] = {
	{ "phase setup", NULL, REQUEST_PHASE, "setup", 0, 0 },
	{ "  phase \t two words \r", NULL, REQUEST_PHASE, "two words", 0, 0 },
	{ "phase run 1/5", NULL, REQUEST_RUN, "run 1/5", 1, 5 },
	{ "phase run 5/5", NULL, REQUEST_RUN, "run 5/5", 5, 5 },
	{ "phase run 1/1", NULL, REQUEST_RUN, "run 1/1", 1, 1 },
	{ "phase run", NULL, REQUEST_PHASE, "run", 0, 0 },
	{ "phase run 0/5", NULL, REQUEST_PHASE, "run 0/5", 0, 0 },
	{ "phase run 1/5x", NULL, REQUEST_PHASE, "run 1/5x", 0, 0 },
	{ "phase run 6/5", "a run after the last", REQUEST_RUN, NULL, 0, 0 },
	{ "phase", "a phase needs a name", REQUEST_PHASE, NULL, 0, 0 },
	{ "phase ", "a phase needs a name", REQUEST_PHASE, NULL, 0, 0 },
	{ "attempt start 7", NULL, REQUEST_ATTEMPT_START, "7", 0, 0 },
	{ "attempt end x y", NULL, REQUEST_ATTEMPT_END, "x y", 0, 0 },
	{ "attempt start", "an attempt needs an id", REQUEST_PHASE, NULL, 0, 0 },
	{ "attempt stop 7", "an attempt starts or ends", REQUEST_PHASE, NULL, 0, 0 },
	{ "attempt", "an attempt starts or ends", REQUEST_PHASE, NULL, 0, 0 },
	{ "reset-peak", NULL, REQUEST_RESET_PEAK, NULL, 0, 0 },
	{ "usage", NULL, REQUEST_USAGE, NULL, 0, 0 },
	{ "ping", NULL, REQUEST_PING, NULL, 0, 0 },
	{ "run a.1 attempt start 7", NULL, REQUEST_ATTEMPT_START, "7", 0, 0 },
	{ "run 12 phase run 2/5", NULL, REQUEST_RUN, "run 2/5", 2, 5 },
	{ "run 12", "a run needs its id and what to do", REQUEST_PHASE, NULL, 0, 0 },
	{ "run 12 bogus", "not known", REQUEST_PHASE, NULL, 0, 0 },
	{ "ping pong", "something behind it", REQUEST_PING, NULL, 0, 0 },
	{ "Phase x", "not known", REQUEST_PHASE, NULL, 0, 0 },
	{ "phases x", "not known", REQUEST_PHASE, NULL, 0, 0 },
	{ "", "an empty line", REQUEST_PHASE, NULL, 0, 0 },
	{ " \t", "an empty line", REQUEST_PHASE, NULL, 0, 0 },
};

static void parsing(void)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *label = *lines[i].line ? lines[i].line : "(empty)";
		struct request r;
		const char *why = request_parse(lines[i].line, strlen(lines[i].line), &r);

		EQ_S(why, lines[i].why, "'%s': result", label);
		if (why || lines[i].why)
			continue;
		EQ_I(r.kind, lines[i].kind, "'%s': kind", label);
		EQ_I(r.run, lines[i].run, "'%s': K", label);
		EQ_I(r.runs, lines[i].runs, "'%s': N", label);
		if (lines[i].name)
			OK(r.name_len == strlen(lines[i].name) &&
				   !memcmp(r.name, lines[i].name, r.name_len),
			   "'%s': name", label);
	}
	{
		struct request r;

		EQ_S(request_parse("run a.1 attempt end x", 21, &r), NULL, "of a run: taken");
		OK(r.of_len == 3 && !memcmp(r.of, "a.1", 3), "of a run: its id");
		EQ_S(request_parse("ping", 4, &r), NULL, "of no run: taken");
		OK(!r.of, "of no run");
	}
	EQ_S(request_parse("phase a\0b", 9, &(struct request){ 0 }), "a NUL in the line",
	     "a NUL in a name");
}

/* SPEC: only the first and the last are looked at. */
static void runs(void)
{
	for (uint64_t n = 1; n <= 5; n++)
		for (uint64_t k = 1; k <= n; k++) {
			struct request r = { .run = k, .runs = n };

			EQ_I(request_run_counts(&r), k == 1 || k == n, "R-23 run %d of %d", (int)k,
			     (int)n);
		}
	OK(name_is_middle_run("run 2/5", 7), "R-23 by name: a run in the middle");
	OK(!name_is_middle_run("run 1/5", 7) && !name_is_middle_run("run 5/5", 7),
	   "R-23 by name: the first and the last");
	OK(!name_is_middle_run("setup", 5) && !name_is_middle_run("", 0), "R-23 by name: no run");
}

static void ids(void)
{
	static const struct {
		const char *text;
		bool integer;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-17", true, -17 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "007", false, 0 },
		{ "-0", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "+1", false, 0 },
		{ "1 ", false, 0 },
		{ "", false, 0 },
		{ "x", false, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t v = 0;

		EQ_I(name_is_integer(cases[i].text, strlen(cases[i].text), &v), cases[i].integer,
		     "id '%s': an integer", cases[i].text);
		if (cases[i].integer)
			EQ_I(v, cases[i].value, "id '%s': value", cases[i].text);
	}
}

int main(void)
{
	parsing();
	runs();
	ids();
	return tap_done();
}
