// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_runs - several runs in one journal: each by itself, whatever is wrong with the others
 */
#include "journal/read.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define START(id)                                                                            \
	"{\"event\":\"run_start\",\"t\":0,\"run\":{\"id\":\"" id "\",\"pid\":7},\"source\":" \
	"{\"exits\":\"bpf\"},\"env\":{\"cpus\":2}}\n"
#define ROW(pid)                                                                       \
	"{\"event\":\"process\",\"t\":1,\"pid\":" pid ",\"comm\":\"a\",\"started\":0," \
	"\"ended\":1,\"exit_code\":0,\"running\":false,\"peak_rss_bytes\":" pid "000}\n"
#define SAMPLE "{\"event\":\"sample\",\"t\":1,\"rss_bytes\":1000,\"cpu_seconds\":1}\n"
#define END(id)                                                                       \
	"{\"event\":\"summary\",\"t\":2,\"schema\":\"exitmeter.summary/1\",\"run\":{" \
	"\"id\":\"" id "\",\"wall_seconds\":2,\"exit_code\":0},\"source\":{},"        \
	"\"completeness\":{\"exact\":true},\"usage\":{}}\n"
#define RUN(id, pid) START(id) ROW(pid) END(id)
#define HALF         "{\"event\":\"process\",\"t\":1,\"pi"

#define RUNS_MAX 4

struct want {
	const char *id; /* NULL: not known */
	bool cut_off;
	unsigned long long lines, faults, first_fault;
	size_t rows;
};

/* What a second look finds, from the run's first line on. */
static size_t rows_again(FILE *in, const struct journal_read *r)
{
	struct journal_rows *rows;
	struct process *p;
	size_t n = 0;

	fseeko(in, r->offset, SEEK_SET);
	rows = journal_rows_new(in, r->lines);
	while ((p = journal_rows_next(rows))) {
		n++;
		process_unref(p);
	}
	EQ_I(journal_rows_free(rows), 0, "read again");
	return n;
}

static void check(const char *label, size_t i, const struct journal_read *r, const struct want *w)
{
	const char *id = r->summary->run.id;

	OK(w->id ? id && !strcmp(id, w->id) : !id, "%s: run %zu is %s", label, i + 1,
	   w->id ? w->id : "nobody's");
	EQ_I(r->summary->cut_off, w->cut_off, "%s: run %zu: cut off", label, i + 1);
	EQ_I(r->lines, w->lines, "%s: run %zu: lines", label, i + 1);
	EQ_I(r->n_faults, w->faults, "%s: run %zu: faults", label, i + 1);
	EQ_I(r->n_faults ? r->faults[0].line : 0, w->first_fault, "%s: run %zu: their line", label,
	     i + 1);
	EQ_I(r->summary->n_rows, w->rows, "%s: run %zu: rows", label, i + 1);
}

static void read_all(const char *label, const char *text, const struct want *want, size_t n_want)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct journal_runs runs;
	struct journal_read r;
	size_t n = 0;

	EQ_I(journal_runs_open(&runs, in), 0, "%s: opened", label);
	do {
		EQ_I(journal_runs_next(&runs, TOP_PEAK, NULL, &r), 0, "%s: read", label);
		OK(r.summary && n < n_want, "%s: there is a run %zu", label, n + 1);
		if (r.summary && n < n_want) {
			check(label, n, &r, &want[n]);
			EQ_I(rows_again(in, &r), want[n].rows, "%s: the rows again", label);
			fseeko(in, journal_runs_offset(&runs), SEEK_SET);
		}
		summary_free(r.summary);
		n++;
	} while (r.more);
	EQ_I(n, n_want, "%s: runs", label);
	journal_runs_close(&runs);
	fclose(in);
}

static void test_runs(void)
{
	static const struct {
		const char *label, *text;
		struct want want[RUNS_MAX];
		size_t n;
	} rows[] = {
		{ "one", RUN("a", "1"), { { "a", false, 3, 0, 0, 1 } }, 1 },
		{ "three",
		  RUN("a", "1") START("b") SAMPLE ROW("2") ROW("3") END("b") RUN("c", "4"),
		  { { "a", false, 3, 0, 0, 1 },
		    { "b", false, 5, 0, 0, 2 },
		    { "c", false, 3, 0, 0, 1 } },
		  3 },
		{ "the last cut off between lines",
		  RUN("a", "1") START("b") ROW("2"),
		  { { "a", false, 3, 0, 0, 1 }, { "b", true, 2, 0, 0, 1 } },
		  2 },
		{ "the last cut off in a line",
		  RUN("a", "1") START("b") ROW("2") HALF,
		  { { "a", false, 3, 0, 0, 1 }, { "b", true, 3, 0, 0, 1 } },
		  2 },
		{ "the first cut off in a line, another behind it",
		  START("a") ROW("1") HALF RUN("b", "2"),
		  { { "a", true, 3, 0, 0, 1 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "without a newline between them",
		  START("a") ROW("1") "{\"event\":\"oom\",\"t\":1}" RUN("b", "2"),
		  { { "a", true, 3, 0, 0, 1 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "the first cut off between lines",
		  START("a") RUN("b", "2"),
		  { { "a", true, 1, 0, 0, 0 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "a start alone, twice",
		  START("a") START("b"),
		  { { "a", true, 1, 0, 0, 0 }, { "b", true, 1, 0, 0, 0 } },
		  2 },
		{ "a damaged line between two",
		  RUN("a", "1") "\001garbage\n" RUN("b", "2"),
		  { { "a", false, 4, 1, 4, 1 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "a damaged line in the second",
		  RUN("a", "1") START("b") "{\"event\":\"process\"\n" ROW("2") END("b"),
		  { { "a", false, 3, 0, 0, 1 }, { "b", false, 4, 1, 5, 1 } },
		  2 },
		{ "a row behind the end is no run's",
		  RUN("a", "1") ROW("9") RUN("b", "2"),
		  { { "a", false, 4, 1, 4, 1 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "a start that tells nothing: its rows are not the run's before",
		  RUN("a", "1") "{\"event\":\"run_start\",\"t\":0}\n" ROW("2") SAMPLE,
		  { { "a", false, 3, 0, 0, 1 }, { NULL, true, 3, 2, 4, 1 } },
		  2 },
		{ "rows without a start, then one with",
		  ROW("1") RUN("b", "2"),
		  { { NULL, true, 1, 1, 1, 1 }, { "b", false, 3, 0, 0, 1 } },
		  2 },
		{ "a name that looks like a start",
		  START("a") "{\"event\":\"phase\",\"t\":1,\"name\":"
			     "\"{\\\"event\\\":\\\"run_start\\\"\",\"rss_bytes\":1}\n" END("a"),
		  { { "a", false, 3, 0, 0, 0 } },
		  1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		read_all(rows[i].label, rows[i].text, rows[i].want, rows[i].n);
}

/* Cut anywhere: the whole run stays as it was, and at most one more is begun. */
static void test_cut_anywhere(void)
{
	static const char text[] = RUN("a", "1") START("b") ROW("2") ROW("3") END("b");
	const size_t first = strlen(RUN("a", "1"));
	size_t wrong = 0;

	for (size_t len = first; len < sizeof(text) - 1; len++) {
		FILE *in = fmemopen((void *)text, len, "r");
		struct journal_runs runs;
		struct journal_read r;
		size_t n = 0;

		journal_runs_open(&runs, in);
		do {
			journal_runs_next(&runs, TOP_PEAK, NULL, &r);
			n++;
			wrong += !r.summary || r.summary->n_rows > 2 ||
				 (n == 1 && (r.summary->cut_off || r.summary->n_rows != 1)) ||
				 (n == 2 && !r.summary->cut_off && len + 1 < sizeof(text) - 1);
			summary_free(r.summary);
		} while (r.more);
		wrong += n > 2;
		journal_runs_close(&runs);
		fclose(in);
	}
	EQ_I(wrong, 0, "cut at each byte of the second run");
}

int main(void)
{
	test_runs();
	test_cut_anywhere();
	return tap_done();
}
