// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_day - a day of four samples a second, by the journal's time: written, read back, and the
 * same
 *
 * Memory does not grow with it, neither writing nor reading, and a file that may have no more than
 * a MiB tells the same figures.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "journal/read.h"
#include "journal/write.h"
#include "report/document.h"
#include "tap.h"
#include "units.h"

#define DAY_NS     (86400 * NS_PER_S)
#define STEP_NS    (NS_PER_S / 4)
#define ROW_STEPS  40 /* a process ends every ten seconds */
#define START_NS   (1000 * NS_PER_S)
#define PEAK_AT_NS (50000 * NS_PER_S)
#define MIB        (1ll << 20)
#define PEAK_BYTES (900 * MIB)
#define GROWTH_KIB 8192

struct day {
	struct run run;
	struct journal journal;
	struct room room;
	struct summary *summary;
	FILE *file;
};

static void begin(struct day *d, int64_t most_bytes)
{
	*d = (struct day){ .room.most_bytes = most_bytes,
			   .summary = summary_new(),
			   .file = tmpfile() };
	if (!d->summary || !d->file || run_init(&d->run, START_NS, 0.25, 2))
		abort();
	d->summary->run.id = strdup("day");
	d->summary->run.pid = 1;
	d->summary->run.started_at_ns = 1700000000 * NS_PER_S;
	d->summary->source.exits = strdup("bpf");
	d->summary->source.interval_ns = STEP_NS;
	d->summary->env.cpus = 2;
	d->run.root_pid = 1;
	journal_init(&d->journal, fileno(d->file), &d->room);
	journal_start(&d->journal, START_NS, &d->summary->run, &d->summary->source,
		      &d->summary->env);
}

/* Half a core, and memory that goes up to the peak and down again. */
static void sample(struct day *d, int64_t t_ns)
{
	int64_t off_ns = t_ns < PEAK_AT_NS ? PEAK_AT_NS - t_ns : t_ns - PEAK_AT_NS;
	struct tree_sample s = { .at_ns = START_NS + t_ns };
	double cpus = -1;

	s.totals = (struct totals){
		.processes = 2,
		.threads = 3,
		.cpu_ns = t_ns / 2,
		.interval_max_bytes = PEAK_BYTES - off_ns / 1000000,
		.lower_max_bytes = t_ns < PEAK_AT_NS ? PEAK_BYTES - off_ns / 1000000 : PEAK_BYTES,
		.lower_max_at_ns = START_NS + (t_ns < PEAK_AT_NS ? t_ns : PEAK_AT_NS)
	};
	s.totals.upper_max_bytes = s.totals.lower_max_bytes;
	if (run_on_sample(&d->run, &s))
		cpus = d->run.meter.last_cpus;
	journal_sample(&d->journal, &s, &d->run.load, cpus, false);
}

static void row(struct day *d, int64_t t_ns, int32_t pid)
{
	struct exit_record e = { .pid = pid,
				 .ppid = 1,
				 .born_ns = START_NS + t_ns - NS_PER_S,
				 .ended_ns = START_NS + t_ns,
				 .wait_status = pid % 7 ? 0 : 256,
				 .peak_rss_bytes = pid * 1000ll,
				 .peak_rss_exact = 1,
				 .peak_source = PEAK_EXIT,
				 .cpu_ns = pid,
				 .threads = 1,
				 .execs = 1 };
	struct process *p;

	memcpy(e.comm, "step", 5);
	e.key = (struct process_key){ .start_ns = (uint64_t)e.born_ns, .tgid = (uint32_t)pid };
	if (run_on_exit(&d->run, &e, &p))
		abort();
	journal_process(&d->journal, START_NS + t_ns, p, 0);
	process_unref(p);
}

static void end(struct day *d)
{
	struct run_end e = { .at_ns = START_NS + DAY_NS,
			     .exact_source = true,
			     .rusage = { UNKNOWN, UNKNOWN, UNKNOWN } };

	e.totals = d->run.totals;
	e.totals.initial = 1;
	e.totals.forks = d->run.rows - 1;
	e.totals.exits = d->run.rows;
	e.totals.processes = 0;
	e.totals.lower_bytes = e.totals.upper_bytes = 0;
	e.totals.cpu_ns = DAY_NS / 2;
	d->summary->run.wall_ns = DAY_NS;
	d->summary->aged_at_ns = d->summary->run.started_at_ns + DAY_NS;
	if (run_finish(&d->run, &e, TOP_PEAK, d->summary))
		abort();
	journal_left_out(&d->journal, e.at_ns, d->summary);
	journal_summary(&d->journal, e.at_ns, d->summary);
	if (journal_flush(&d->journal))
		abort();
	rewind(d->file);
}

static void run_day(struct day *d, int64_t most_bytes)
{
	int32_t pid = 2, steps = 0;

	begin(d, most_bytes);
	for (int64_t t_ns = STEP_NS; t_ns < DAY_NS; t_ns += STEP_NS) {
		sample(d, t_ns);
		if (++steps % ROW_STEPS == 0)
			row(d, t_ns, pid++);
		if (journal_flush(&d->journal))
			abort();
	}
	end(d);
}

static int put(void *ctx, const char *data, size_t len)
{
	return fwrite(data, 1, len, ctx) == len ? 0 : -1;
}

/* *@ret, owned: all that is told of it, but for what the journal has not. */
static size_t document(struct summary *s, char **ret)
{
	struct document_sink sink = { put, NULL };
	struct left_out left_out = s->left_out;
	int64_t omitted = s->rows_omitted;
	size_t len;

	sink.ctx = open_memstream(ret, &len);
	s->left_out = left_out_blank();
	s->rows_omitted = 0;
	if (!sink.ctx || document_json(s, NULL, &sink))
		abort();
	fclose(sink.ctx);
	s->left_out = left_out;
	s->rows_omitted = omitted;
	return len;
}

static long peak_kib(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void check_figures(const struct summary *s, const char *what)
{
	EQ_I(s->usage.peak_lower_bytes, PEAK_BYTES, "%s: the peak", what);
	EQ_I(s->usage.peak_at_ns, PEAK_AT_NS, "%s: when", what);
	EQ_I(s->usage.cpu_ns, DAY_NS / 2, "%s: CPU", what);
	EQ_I(s->completeness.exits, 8639, "%s: processes", what);
	EQ_I((int64_t)s->n_rows + s->rows_omitted, 8639, "%s: each a row, or counted", what);
	OK(s->n_marks > EM_MAX_MARKS / 4 && s->n_marks <= EM_MAX_MARKS, "%s: %zu marks", what,
	   s->n_marks);
	OK(s->marks[0].at > 86000, "%s: the first a day ago", what);
}

static void test_day(int64_t most_bytes, const char *what)
{
	long before_kib = peak_kib();
	double before_s = cpu_s();
	char *want, *got;
	size_t want_len, got_len;
	struct journal_read r;
	struct stat st;
	struct day d;

	run_day(&d, most_bytes);
	if (fstat(fileno(d.file), &st))
		abort();
	printf("# %s: %.1f MB written in %.2f s of CPU\n", what, (double)st.st_size / 1e6,
	       cpu_s() - before_s);
	before_s = cpu_s();
	EQ_I(journal_read(d.file, TOP_PEAK, &r), 0, "%s: read", what);
	printf("# %s: read in %.2f s of CPU, %ld KiB more than before\n", what, cpu_s() - before_s,
	       peak_kib() - before_kib);
	EQ_I(r.n_faults, 0, "%s: no line is malformed", what);
	check_figures(d.summary, what);
	check_figures(r.summary, what);
	want_len = document(d.summary, &want);
	got_len = document(r.summary, &got);
	OK(want_len == got_len && !memcmp(want, got, want_len), "%s: the same document", what);
#ifndef __SANITIZE_ADDRESS__ /* what is freed is kept for a while */
	OK(peak_kib() - before_kib < GROWTH_KIB, "%s: memory did not grow with it", what);
#endif
	if (most_bytes)
		OK(st.st_size < most_bytes + 1001 * 1000, "%s: the file did not either", what);
	free(want);
	free(got);
	summary_free(r.summary);
	summary_free(d.summary);
	journal_free(&d.journal);
	run_free(&d.run);
	fclose(d.file);
}

int main(void)
{
	test_day(0, "a day");
	test_day(MIB, "a day in a MiB");
	return tap_done();
}
