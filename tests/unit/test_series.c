// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_series - the runs of one journal put together: medians and spread, for people and programs
 */
#include "report/series.h"

#include <stdlib.h>

#include "tap.h"
#include "units.h"

struct text {
	char data[16384];
	size_t len;
};

static int put(void *ctx, const char *data, size_t len)
{
	struct text *t = ctx;

	if (t->len + len >= sizeof(t->data))
		return -1;
	memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
	return 0;
}

/* Run @number of @of that took @wall_s and ended with @code. */
static void add(struct run_series *s, int number, int of, double wall_s, int code)
{
	struct summary *sum = summary_new();

	sum->run.repeat = number > 0 ? number : UNKNOWN;
	sum->run.repeats = number > 0 ? of : UNKNOWN;
	sum->run.id = strdup("id");
	sum->run.wall_ns = wall_s < 0 ? UNKNOWN : (int64_t)(wall_s * (double)NS_PER_S);
	sum->run.exit_code = code;
	sum->usage.total_processes = 3;
	sum->source.exits = strdup("bpf");
	sum->completeness.exact = 1;
	if (code == 77) {
		sum->completeness.exact = 0;
		texts_add(&sum->completeness.reasons, "a ring was full");
	}
	EQ_I(run_series_add(s, "name", sum), 0, "taken");
	summary_free(sum);
}

static void texts(const struct run_series *s, struct text *text, struct text *json)
{
	const struct document_sink to = { put, text }, to_json = { put, json };

	*text = *json = (struct text){ 0 };
	EQ_I(run_series_text(s, true, &to), 0, "as text");
	EQ_I(run_series_json(s, &to_json), 0, "as JSON");
}

static bool has(const struct text *t, const char *what)
{
	return strstr(t->data, what);
}

static void test_medians(void)
{
	struct run_series s = { 0 };
	struct text text, json;

	add(&s, 1, 5, 1, 0);
	add(&s, 2, 5, 2, 0);
	add(&s, 3, 5, 4, 0);
	add(&s, 4, 5, 8, 0);
	add(&s, 5, 5, 16, 0);
	texts(&s, &text, &json);
	OK(has(&json, "\"repeats\":5,"), "as many as there were to be");
	OK(has(&json, "\"wall_seconds\":{\"runs\":5,\"median\":4,\"least\":1,\"most\":16,"
		      "\"median_deviation\":3}"),
	   "median, least, most and the median deviation");
	OK(has(&json, "\"cpu_seconds\":{\"runs\":0,\"median\":null,\"least\":null,"),
	   "what is not known is null");
	OK(has(&json, "\"differs\":[]"), "nothing differs");
	OK(has(&text, "exitmeter: run 5: wall 16.0 s, 3 processes\n"), "each run in a line");
	OK(has(&text, "exitmeter: 5 runs "), "how many");
	OK(has(&text, "exitmeter: wall time  4.0 s   1.0 to 16.0 s  3.0 s\n"),
	   "the median and the range");
	OK(has(&text, "exitmeter: processes  3       alike\n"), "no range");
	OK(has(&text, "exitmeter: exits from bpf; all runs exact\n"), "how it was measured");
	run_series_free(&s);
}

static void test_failures(void)
{
	struct run_series s = { 0 };
	struct text text, json;

	add(&s, 1, 4, 1, 0);
	add(&s, 2, 4, 1, 77);
	add(&s, 3, 4, -1, 0);
	texts(&s, &text, &json);
	OK(has(&text, "exitmeter: run 2: not exact: a ring was full\n"), "which run is not exact");
	OK(!has(&text, "run 1: not exact"), "and which is");
	OK(has(&text, "exitmeter: run 2: wall 1.0 s, 3 processes, exit 77\n"), "a run that failed");
	OK(has(&text, "exitmeter: 3 of 4 runs "), "a series that was ended");
	OK(has(&text, "  (of 2 runs)\n"), "a figure that is not known of all");
	OK(has(&text, "exitmeter: differs: exit status: 0, 77\n"), "what differs");
	OK(has(&text, "exitmeter: exits from bpf; 2 of 3 runs exact\n"), "how many are exact");
	OK(has(&json, "\"exit_code\":77,\"exit_signal\":null,\"exact\":false,"), "the run");
	run_series_free(&s);
	add(&s, 1, 2, 1, 77);
	add(&s, 2, 2, 1, 77);
	texts(&s, &text, &json);
	OK(has(&text, "exitmeter: not exact: a ring was full\n"), "what is of all is said once");
	run_series_free(&s);
}

static void test_many(void)
{
	struct run_series s = { 0 };
	struct text text, json;

	for (int i = 1; i <= 30; i++)
		add(&s, i, 30, i, i == 17);
	texts(&s, &text, &json);
	OK(!has(&text, "run 16:"), "many are not told one by one");
	OK(has(&text, "exitmeter: run 17: wall 17.0 s, 3 processes, exit 1\n"), "but who failed");
	OK(has(&json, "\"median\":15.5,"), "of an even number between the middle two");
	run_series_free(&s);
	add(&s, 1, 3, 1, 0);
	add(&s, 1, 3, 1, 0);
	texts(&s, &text, &json);
	OK(has(&json, "\"repeats\":null,"), "two series together are none");
	OK(has(&text, "exitmeter: 2 runs "), "as many as there are");
	run_series_free(&s);
}

int main(void)
{
	test_medians();
	test_failures();
	test_many();
	return tap_done();
}
