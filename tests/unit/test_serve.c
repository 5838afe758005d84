// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_serve - what a worker sends, what a client accepts and knows (SPEC U-101 to U-103)
 */
#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include "serve/accept.h"
#include "serve/exited.h"
#include "serve/gunzip.h"
#include "serve/token.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A copy of exactly its bytes, so that AddressSanitizer sees a read past the end. */
static char *exact(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	if (!copy)
		exit(99);
	memcpy(copy, text, len);
	return copy;
}

static int parse(const char *text, size_t len, struct exited **ret, char why[EXITED_WHY_MAX])
{
	char *copy = exact(text, len);
	int err = exited_parse(copy, len, ret, why);

	free(copy);
	return err;
}

/* --- meters -------------------------------------------------------------------------------- */

#define HEAD  "{\"run\":1,\"pid\":2,\"worker\":3,\"start\":4,\"max_rss\":5"
#define MARKS ",\"marks\":[[2,-1,0,-1],[0.5,-1,1.5,-1]]"

static const struct refused {
	const char *label, *text, *why;
} refused[] = {
	{ "nothing", "", "not a JSON object" },
	{ "an array", "[]", "not a JSON object" },
	{ "an empty object", "{}", "run is missing" },
	{ "cut off", HEAD, "not JSON" },
	{ "more behind it", HEAD MARKS "} x", "something behind the JSON object" },
	{ "no marks", HEAD "}", "marks is missing" },
	{ "no fence", "{\"run\":1,\"pid\":2,\"start\":4,\"max_rss\":5" MARKS "}",
	  "worker is missing" },
	{ "no start", "{\"run\":1,\"pid\":2,\"worker\":4,\"max_rss\":5" MARKS "}",
	  "start is missing" },
	{ "a member twice", HEAD MARKS MARKS "}", "marks stands there twice" },
	{ "pid 0", "{\"run\":1,\"pid\":0}", "pid is not an integer from 1 on" },
	{ "pid with a fraction", "{\"run\":1,\"pid\":2.5}", "pid is not an integer from 1 on" },
	{ "pid null", "{\"run\":1,\"pid\":null}", "pid is not an integer from 1 on" },
	{ "max_rss below -1", "{\"max_rss\":-2}", "max_rss is not an integer from -1 on" },
	{ "a run that is an object", "{\"run\":{}}", "run is neither an integer nor a string" },
	{ "a run without a name", "{\"run\":\"\"}",
	  "run is empty, longer than 256 bytes, or no plain text" },
	{ "a run with a NUL", "{\"run\":\"a\\u0000\"}",
	  "run is empty, longer than 256 bytes, or no plain text" },
	{ "a run that is no UTF-8", "{\"run\":\"a\xff\"}",
	  "run is empty, longer than 256 bytes, or no plain text" },
	{ "NaN", HEAD ",\"marks\":[[2,-1,NaN,-1]]}", "marks is not JSON" },
	{ "infinity", HEAD ",\"marks\":[[2,-1,1e999,-1]]}",
	  "marks: a mark is not four numbers, its second an integer" },
	{ "rising ages", HEAD ",\"marks\":[[2,-1,0,-1],[3,-1,1,-1]]}",
	  "marks: an age is larger than the one before" },
	{ "three numbers", HEAD ",\"marks\":[[2,-1,0]]}",
	  "marks: a mark is not four numbers, its second an integer" },
	{ "null in a mark", HEAD ",\"marks\":[[2,null,0,-1]]}",
	  "marks: a mark is not four numbers, its second an integer" },
	{ "marks that are no array", HEAD ",\"marks\":{}}", "marks: not JSON of this form" },
	{ "CPU below 0", HEAD ",\"marks\":[[2,-1,-3,-1]]}",
	  "mark 1 has what is below 0 and not -1" },
	{ "cores below 0", HEAD ",\"marks\":[[2,-1,0,-9]]}",
	  "mark 1 has what is below 0 and not -1" },
	{ "CPU that falls", HEAD ",\"marks\":[[3,-1,5,-1],[2,-1,-1,-1],[1,-1,3,-1]]}",
	  "mark 3 has less CPU than one before" },
	{ "no CPU at all", HEAD ",\"marks\":[[3,-1,-1,-1],[2,7,-1,-1]]}",
	  "no mark's CPU is known" },
	{ "exits that are no array", HEAD ",\"exits\":1}", "exits is no array" },
	{ "an exit before its start", HEAD ",\"exits\":[[1,0,5,1],[1,2,5,1]]}",
	  "exit 2 is not two ages, the first no smaller, a peak and CPU seconds" },
	{ "an exit with CPU below 0", HEAD ",\"exits\":[[2,1,5,-2]]}",
	  "exit 1 is not two ages, the first no smaller, a peak and CPU seconds" },
	{ "another member that is no JSON", HEAD ",\"x\":[}", "not JSON" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < COUNT(refused); i++) {
		const struct refused *r = &refused[i];
		struct exited *e = NULL;
		char why[EXITED_WHY_MAX];

		EQ_I(parse(r->text, strlen(r->text), &e, why), -EBADMSG, "refused: %s", r->label);
		EQ_S(why, r->why, "why: %s", r->label);
		exited_free(e);
	}
}

static void test_taken(void)
{
	static const char text[] =
		" { \"exits\" : [[5.5,5.25,20971520,0.25],[1,1,-1,-1]], "
		"\"later\":{\"x\":[1,null]}, "
		"\"marks\":[[6,-1,0,-1],[5,104857600,0.9,0.9],[-0.5,-1,9,-1]],\"max_rss\":-1,"
		"\"start\":0,\"worker\":9223372036854775807,\"pid\":4711,"
		"\"run\":\"n\\u00e4chtlich \\\"7\\\" \\\\\" } ";
	static const char unknown_cpu[] = HEAD
		",\"marks\":[[12,-1,-1,-1],[11,0,100,0],[7,1000,-1,1],[1,0,110,0],[0,-1,-1,-1]]}";
	struct exited *e = NULL;
	char why[EXITED_WHY_MAX];

	EQ_I(parse(text, sizeof(text) - 1, &e, why), 0, "taken (%s)", why);
	if (!e)
		return;
	EQ_S(e->run,
	     "n\xc3\xa4"
	     "chtlich \"7\" \\",
	     "a run's name");
	OK(!e->run_is_number, "is no number");
	EQ_I(e->pid, 4711, "pid");
	EQ_I(e->worker, INT64_MAX, "worker to 64 bits");
	EQ_I(e->start, 0, "no fence, by its word");
	EQ_I(e->max_rss, -1, "max_rss unknown");
	EQ_I(e->n_marks, 3, "marks");
	EQ_I(e->marks[1].rss, 104857600, "rss");
	EQ_D(e->marks[1].cpu, 0.9, 0, "cpu");
	EQ_D(e->marks[2].at, -0.5, 0, "U-62 an age a little below 0");
	EQ_I(e->n_exits, 2, "exits");
	EQ_D(e->exits[0].ended, 5.25, 0, "an exit's age");
	EQ_I(e->exits[1].peak_rss, -1, "an unknown peak");
	exited_free(e);
	EQ_I(parse(unknown_cpu, sizeof(unknown_cpu) - 1, &e, why), 0, "CPU that is not known (%s)",
	     why);
	if (e) {
		EQ_D(e->marks[0].cpu, 100, 0, "before any that is known: the first that is");
		EQ_D(e->marks[2].cpu, 104, 1e-9, "between two: on the line");
		EQ_D(e->marks[4].cpu, 110, 0, "after the last: that");
	}
	exited_free(e);
	EQ_I(parse(HEAD ",\"marks\":[]}", strlen(HEAD ",\"marks\":[]}"), &e, why), 0,
	     "no mark and no exit");
	EQ_S(e ? e->run : "", "1", "a number as a run");
	OK(e && e->run_is_number, "is one");
	exited_free(e);
}

/* @n times @row between @head and "]}", parsed. */
static int parse_many(const char *head, const char *row, size_t n, struct exited **ret,
		      char why[EXITED_WHY_MAX])
{
	size_t cap = strlen(head) + n * (strlen(row) + 1) + 8;
	char *text = malloc(cap), *at = text;
	int err;

	if (!text)
		exit(99);
	at = stpcpy(at, head);
	for (size_t i = 0; i < n; i++) {
		if (i)
			*at++ = ',';
		at = stpcpy(at, row);
	}
	at = stpcpy(at, "]}");
	err = parse(text, (size_t)(at - text), ret, why);
	free(text);
	return err;
}

static void test_limits(void)
{
	struct exited *e = NULL;
	char why[EXITED_WHY_MAX];

	EQ_I(parse_many(HEAD ",\"marks\":[", "[2,-1,0,-1]", EM_MARKS_PARSE_MAX, &e, why), 0,
	     "MAX_MARKS + 2 rows");
	EQ_I(e ? e->n_marks : 0, EM_MARKS_PARSE_MAX, "all of them");
	exited_free(e);
	EQ_I(parse_many(HEAD ",\"marks\":[", "[2,-1,0,-1]", EM_MARKS_PARSE_MAX + 1, &e, why),
	     -EBADMSG, "one more");
	EQ_S(why, "marks: more marks than a meter keeps", "in words");
	EQ_I(parse_many(HEAD MARKS ",\"exits\":[", "[2,1,0,0]", EXITED_EXITS_MAX, &e, why), 0,
	     "the most exits");
	exited_free(e);
	EQ_I(parse_many(HEAD MARKS ",\"exits\":[", "[2,1,0,0]", EXITED_EXITS_MAX + 1, &e, why),
	     -EBADMSG, "one more");
	EQ_S(why, "more than 4096 exits", "in words");
	EQ_I(parse_many(HEAD ",\"x\":[", "[", 100000, &e, why), -EBADMSG, "deep nesting");
}

/* --- Accept -------------------------------------------------------------------------------- */

static const struct accepted {
	const char *label, *header;
	bool open;
} accepted[] = {
	{ "none", NULL, false },
	{ "empty", "", false },
	{ "anything", "*/*", false },
	{ "plain text", "text/plain;version=0.0.4", false },
	{ "OpenMetrics", "application/openmetrics-text; version=1.0.0", true },
	{ "without a version", "application/openmetrics-text", true },
	{ "another version alone", "application/openmetrics-text;version=0.0.1", false },
	{ "Prometheus's own",
	  "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
	  "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	  true },
	{ "text rather", "application/openmetrics-text;q=0.3,text/plain;q=0.31", false },
	{ "as much", "text/plain;q=0.5, application/openmetrics-text ; q=0.5", true },
	{ "refused", "application/openmetrics-text;q=0", false },
	{ "refused with decimals", "application/openmetrics-text;q=0.000, text/plain", false },
	{ "no quality", "application/openmetrics-text;q=x", false },
	{ "capitals", "Application/OpenMetrics-Text;Q=1.0", true },
	{ "a longer word", "application/openmetrics-textual", false },
	{ "separators alone", ",;,;q=,;", false },
};

static void test_accept(void)
{
	for (size_t i = 0; i < COUNT(accepted); i++) {
		const struct accepted *a = &accepted[i];
		char *copy = a->header ? strdup(a->header) : NULL;

		EQ_I(accept_openmetrics(copy), a->open, "accept: %s", a->label);
		free(copy);
	}
}

/* --- tokens -------------------------------------------------------------------------------- */

static const struct shown {
	const char *label, *token, *header;
	bool matches;
} shown[] = {
	{ "none is asked for", "", NULL, true },
	{ "none is asked for, one comes", "", "Bearer x", true },
	{ "none comes", "secret", NULL, false },
	{ "it", "secret", "Bearer secret", true },
	{ "the scheme in small letters", "secret", "bearer secret", true },
	{ "spaces before it", "secret", "Bearer   secret", true },
	{ "another scheme", "secret", "Basic secret", false },
	{ "without a scheme", "secret", "secret", false },
	{ "nothing behind the scheme", "secret", "Bearer ", false },
	{ "its beginning", "secret", "Bearer secre", false },
	{ "more than it", "secret", "Bearer secrets", false },
	{ "another of its length", "secret", "Bearer secreT", false },
	{ "it twice", "secret", "Bearer secretsecret", false },
};

static void test_token(void)
{
	for (size_t i = 0; i < COUNT(shown); i++) {
		const struct shown *s = &shown[i];
		char *copy = s->header ? strdup(s->header) : NULL;
		struct token t = { "" };

		snprintf(t.text, sizeof(t.text), "%s", s->token);
		EQ_I(token_matches(&t, copy), s->matches, "token: %s", s->label);
		free(copy);
	}
}

/* --- gzip ---------------------------------------------------------------------------------- */

static char packed[256];

/* Into @packed; how many bytes. */
static size_t pack(const char *text, size_t len)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text,
		       .avail_in = (uInt)len,
		       .next_out = (Bytef *)packed,
		       .avail_out = sizeof(packed) };

	if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		exit(99);
	deflateEnd(&z);
	return sizeof(packed) - z.avail_out;
}

static void test_gunzip(void)
{
	static char zeros[1000];
	size_t len = pack(zeros, sizeof(zeros)), got = 0;
	char *plain = NULL;

	EQ_I(gunzip(packed, len, sizeof(zeros), &plain, &got), 0, "as much as is allowed");
	OK(got == sizeof(zeros) && !memcmp(plain, zeros, got), "the same bytes");
	free(plain);
	EQ_I(gunzip(packed, len, sizeof(zeros) - 1, &plain, &got), -E2BIG, "a byte more than that");
	EQ_I(gunzip(packed, len - 1, sizeof(zeros), &plain, &got), -EBADMSG, "cut off");
	EQ_I(gunzip("{\"run\":1}", 9, sizeof(zeros), &plain, &got), -EBADMSG, "no gzip");
	EQ_I(gunzip("", 0, sizeof(zeros), &plain, &got), -EBADMSG, "nothing");
	packed[len] = 'x';
	EQ_I(gunzip(packed, len + 1, sizeof(zeros), &plain, &got), -EBADMSG, "more behind it");
}

int main(void)
{
	test_refused();
	test_taken();
	test_limits();
	test_accept();
	test_token();
	test_gunzip();
	return tap_done();
}
