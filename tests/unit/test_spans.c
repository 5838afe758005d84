// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_spans - files of attempts (INTERFACE 7), shared out from a run's marks and rows
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/spans.h"
#include "tap.h"
#include "units.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define S(seconds) ((int64_t)((seconds)*1e9))
/* 2026-11-30T01:21:27.272Z */
#define RUN_START_NS (1796001687272 * NS_PER_MS)

static const struct {
	const char *line, *why; /* NULL: taken */
	const char *id;         /* NULL: none */
	int64_t started_ns, ended_ns;
} lines[] = {
	{ "{\"id\":1,\"started\":0.5,\"ended\":2}", NULL, "1", S(.5), S(2) },
	{ " { \"ended\" : null , \"id\" : \"a b\" , \"started\" : -1e0 } \r", NULL, "a b", S(-1),
	  TIME_NONE },
	{ "{\"id\":\"n\\n\\u00e9\\ud83d\\ude00\",\"started\":0}", NULL,
	  "n\n\xc3\xa9\xf0\x9f\x98\x80", 0, TIME_NONE },
	{ "{\"id\":2,\"started\":\"2026-11-30T01:21:28.272Z\",\"ended\":\"2026-11-30T02:21:"
	  "29+01:00\"}",
	  NULL, "2", S(1), S(1.728) },
	{ "{\"id\":3,\"started\":1,\"x\":[{\"started\":9},\"}\"]}", NULL, "3", S(1), TIME_NONE },
	{ "", NULL, NULL, 0, 0 },
	{ " \t", NULL, NULL, 0, 0 },
	{ "{\"id\":1,\"started\":2,\"ended\":1.5}", "it ends before it starts", NULL, 0, 0 },
	{ "{\"id\":1}", "there is no start", NULL, 0, 0 },
	{ "{\"started\":1}", "there is no id", NULL, 0, 0 },
	{ "{}", "there is no id", NULL, 0, 0 },
	{ "{\"id\":1.5,\"started\":1}", "an id is neither an integer nor a string", NULL, 0, 0 },
	{ "{\"id\":null,\"started\":1}", "an id is neither an integer nor a string", NULL, 0, 0 },
	{ "{\"id\":\"\",\"started\":1}", "an id that is empty, or has a NUL", NULL, 0, 0 },
	{ "{\"id\":\"\\u0000\",\"started\":1}", "an id that is empty, or has a NUL", NULL, 0, 0 },
	{ "{\"id\":\"\\x\",\"started\":1}", "an id that is too long, or no string", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":null}", "a time is neither seconds nor RFC 3339", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":1e99}", "a time is neither seconds nor RFC 3339", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":\"soon\"}", "a time that is not RFC 3339", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":\"2026-13-30T01:21:28Z\"}", "a time that is not RFC 3339", NULL, 0,
	  0 },
	{ "{\"id\":1,\"started\":\"2026-11-30T01:21:28\"}", "a time that is not RFC 3339", NULL, 0,
	  0 },
	{ "{\"id\":1,\"started\":1", "not a JSON object", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":1,}", "not a JSON object", NULL, 0, 0 },
	{ "[1,2,3]", "not a JSON object", NULL, 0, 0 },
	{ "{\"id\":1,\"started\":1} x", "something behind the object", NULL, 0, 0 },
};

static void parsing(void)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct stretches all = { 0 };
		const char *line = lines[i].line, *why;

		why = span_parse(line, strlen(line), RUN_START_NS, &all);
		EQ_S(why, lines[i].why, "line %zu: result", i + 1);
		EQ_I(all.n, lines[i].id != NULL, "line %zu: attempts", i + 1);
		if (all.n && lines[i].id) {
			EQ_S(all.first->name, lines[i].id, "line %zu: id", i + 1);
			EQ_I(all.first->started_ns, lines[i].started_ns, "line %zu: start", i + 1);
			EQ_I(all.first->ended_ns, lines[i].ended_ns, "line %zu: end", i + 1);
		}
		stretches_free(&all);
	}
}

static void clock_unknown(void)
{
	static const char line[] = "{\"id\":2,\"started\":\"2026-11-30T01:21:28.272Z\"}";
	struct stretches all = { 0 };

	EQ_S(span_parse(line, strlen(line), UNKNOWN, &all),
	     "a time of day, but the run's start is not known", "a run without its start");
	stretches_free(&all);
}

/* SPEC 1.10 as a run that has ended: 5.5 s long, aged at 6 s. */
static struct summary *run_1_10(void)
{
	static const struct em_mark marks[] = {
		{ 6, -1, 0, -1 },           { 5, 104857600, .9, .9 },   { 4, 314572800, 2.8, 1.9 },
		{ 3, 262144000, 4.6, 1.8 }, { 2, 838860800, 8.5, 3.9 }, { 1, 125829120, 8.7, .2 },
		{ .5, -1, 9, -1 },
	};
	struct summary *s = summary_new();

	if (!s)
		exit(99);
	memcpy(s->marks, marks, sizeof(marks));
	s->n_marks = COUNT(marks);
	s->aged_ns = S(6);
	s->usage.peak_process_bytes = 700ll << 20;
	return s;
}

static void add_row(struct summary *s, double from, double to, int64_t mib, double cpu)
{
	struct process *p = process_blank(0);

	s->rows = realloc(s->rows, (s->n_rows + 1) * sizeof(struct process *));
	if (!p || !s->rows)
		exit(99);
	p->started_ns = S(from);
	p->ended_ns = S(to);
	p->peak_rss_bytes = mib << 20;
	p->cpu_ns = S(cpu);
	s->rows[s->n_rows++] = p;
}

static void share(struct summary *s, const char *text)
{
	struct stretches all = { 0 };
	const char *at = text, *end;

	for (; *at; at = end + 1) {
		end = strchr(at, '\n');
		EQ_S(span_parse(at, (size_t)(end - at), UNKNOWN, &all), NULL, "the line is taken");
	}
	EQ_I(spans_attribute(s, &all, &s->attempts), 0, "shared out");
	stretches_free(&all);
}

static void eq_share(const struct stretch *s, int64_t mib, double cpu, double cpus,
		     enum peak_source source, const char *label)
{
	EQ_I(s->peak_rss_bytes, mib < 0 ? -1 : mib << 20, "%s: peak", label);
	EQ_D((double)s->used.cpu_ns / 1e9, cpu, 1e-8, "%s: CPU", label);
	EQ_D(s->peak_cpus, cpus, 1e-9, "%s: cores", label);
	EQ_S(peak_source_name(s->sum_source), peak_source_name(source), "%s: U-70a source", label);
	EQ_I(s->used.io.rchar, UNKNOWN, "%s: 0.3 what marks do not know is unknown", label);
}

/* E1 again, by times of the run instead of ages. */
static void from_marks(void)
{
	struct summary *s = run_1_10();
	const struct stretch *a;

	share(s,
	      "{\"id\":1,\"started\":0.2,\"ended\":2.5}\n{\"id\":2,\"started\":2.5,\"ended\":4.8}\n"
	      "{\"id\":3,\"started\":4.85,\"ended\":4.9}\n{\"id\":4,\"started\":4.95,\"ended\":"
	      "null}\n");
	EQ_I(s->attempts.n, 4, "E1 attempts");
	a = s->attempts.first;
	eq_share(a, 300, 3.52, 1.9, PEAK_MARKS, "E1 the first");
	eq_share(a->next, 800, 4.96, 3.9, PEAK_MARKS, "E1 the second");
	eq_share(a->next->next, 120, .01, .2, PEAK_MARKS, "E1 the third");
	eq_share(a->next->next->next, 120, .31, .2, PEAK_MARKS, "E1 the fourth");
	summary_free(s);
}

static void with_rows(void)
{
	struct summary *s = run_1_10();

	add_row(s, 4.86, 4.89, 600, .15); /* inside the second */
	add_row(s, .1, 5.4, 700, 2);      /* the driver */
	share(s, "{\"id\":1,\"started\":0.2,\"ended\":4.8}\n{\"id\":2,\"started\":4.85,\"ended\":4."
		 "9}\n");
	EQ_I(s->attempts.first->peak_rss_bytes, 800ll << 20, "U-130 the driver raises none");
	EQ_I(s->attempts.last->peak_rss_bytes, 600ll << 20, "U-130 who lived inside raises it");
	EQ_S(peak_source_name(s->attempts.last->source), "exit", "U-130 and is its source");
	summary_free(s);
}

int main(void)
{
	parsing();
	clock_unknown();
	from_marks();
	with_rows();
	return tap_done();
}
