// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stretch - phases and attempts known while the run goes on (SPEC U-70a, U-130, U-132, 3.1)
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/run.h"
#include "tap.h"
#include "units.h"

#define MIB        ((int64_t)1 << 20)
#define S(seconds) ((int64_t)((seconds)*1e9))

static struct run run;

static void start(void)
{
	if (run_init(&run, 0, EM_MIN_SAMPLE_SECONDS, 4))
		exit(99);
}

/* A look: resident now, the most since the look before, CPU so far. */
static struct tree_sample look(double at, int64_t mib, int64_t most_mib, double cpu)
{
	struct tree_sample s = { .at_ns = S(at),
				 .totals = { .cpu_ns = S(cpu),
					     .cpu_user_ns = UNKNOWN,
					     .cpu_system_ns = UNKNOWN,
					     .processes = 3,
					     .threads = 3,
					     .lower_bytes = mib * MIB,
					     .lower_max_bytes = most_mib * MIB,
					     .upper_max_bytes = 4000 * MIB,
					     .interval_max_bytes = most_mib * MIB } };

	return s;
}

static void sample(double at, int64_t mib, int64_t most_mib, double cpu)
{
	struct tree_sample s = look(at, mib, most_mib, cpu);

	run_on_sample(&run, &s);
}

static const struct scan_counters living_nothing;

static struct moment moment(double at, int64_t mib, int64_t most_mib, double cpu,
			    const struct scan_counters *living)
{
	struct tree_sample s = look(at, mib, most_mib, cpu);

	return run_on_moment(&run, &s, living ? living : &living_nothing);
}

static void begin(const char *id, double at, int64_t mib, int64_t most_mib, double cpu)
{
	struct moment m = moment(at, mib, most_mib, cpu, NULL);

	EQ_I(run_on_attempt_start(&run, id, strlen(id), &m), 0, "%s starts", id);
}

static const struct stretch *end(const char *id, double at, int64_t mib, int64_t most_mib,
				 double cpu)
{
	struct moment m = moment(at, mib, most_mib, cpu, NULL);

	return run_on_attempt_end(&run, id, strlen(id), &m);
}

static void process_ends(double born, double ended, int64_t mib, double cpu)
{
	struct exit_record e = { .key = { .start_ns = (uint64_t)S(born), .tgid = 7 },
				 .pid = 7,
				 .born_ns = S(born),
				 .ended_ns = S(ended),
				 .peak_rss_bytes = mib * MIB,
				 .peak_rss_exact = 1,
				 .peak_source = PEAK_EXIT,
				 .cpu_ns = S(cpu),
				 .cpu_user_ns = S(cpu),
				 .voluntary_switches = 5,
				 .io = { .rchar = 100 } };

	if (run_on_exit(&run, &e, NULL))
		exit(99);
}

static struct summary *finish(double at, double cpu)
{
	struct run_end e = { .at_ns = S(at),
			     .totals = { .initial = 1,
					 .exits = 1,
					 .cpu_ns = S(cpu),
					 .lower_max_bytes = 100 * MIB,
					 .upper_max_bytes = 4000 * MIB },
			     .exact_source = true,
			     .rusage = { UNKNOWN, UNKNOWN, UNKNOWN } };
	struct summary *s = summary_new();

	if (!s || run_finish(&run, &e, TOP_PEAK, s))
		exit(99);
	return s;
}

/*
 * 20 minutes at 4 Hz are merged to marks of more than a second; a spike 0.2 s before the border
 * belongs to the first attempt, one 0.2 s after it to the second.
 */
static void long_run(void)
{
	const struct stretch *first, *second;

	start();
	begin("1", 0, 10, 10, 0);
	for (int i = 1; i < 2400; i++)
		sample(i * .25, 10, 10, i * .025);
	sample(600, 10, 900, 60);
	first = end("1", 600.1, 10, 10, 60.01);
	begin("2", 600.1, 10, 10, 60.01);
	sample(600.3, 10, 700, 60.03);
	for (int i = 2402; i <= 4800; i++)
		sample(i * .25, 10, 10, i * .025);
	second = end("2", 1200.1, 10, 10, 120.01);
	OK(run.meter.stride > 1, "U-70a the marks are merged: stride %u", run.meter.stride);
	EQ_I(first->peak_rss_bytes, 900 * MIB, "U-70a the spike before the border is the first's");
	EQ_I(second->peak_rss_bytes, 700 * MIB, "U-70a the spike after it is the second's");
	EQ_D((double)first->used.cpu_ns, 60.01e9, 1, "U-132 CPU at a border that was read, exact");
	EQ_D((double)second->used.cpu_ns, 60e9, 1, "U-132 CPU: the sum is kept");
	run_free(&run);
}

static void exits(void)
{
	struct summary *s;
	const struct stretch *a, *b;

	start();
	begin("a", 1, 10, 500, 0); /* what was before it is not its own */
	process_ends(1.001, 1.004, 40, .002);
	a = end("a", 1.005, 10, 20, .003);
	EQ_I(a->peak_rss_bytes, 40 * MIB, "U-130 5 ms: the process that lived inside");
	EQ_S(peak_source_name(a->source), "exit", "U-130 its source");
	EQ_I(a->used.voluntary_switches, 5, "R-6 switches of the ended");
	EQ_I(a->used.io.rchar, 100, "R-8 I/O of the ended");
	begin("b", 1.005, 10, 10, .003);
	process_ends(1.002, 1.006, 60, .004);
	b = end("b", 1.02, 10, 12, .01);
	process_ends(1.003, 1.0049, 50, .001); /* its record is late */
	process_ends(.5, 1.03, 80, 1);         /* the driver */
	EQ_I(a->peak_rss_bytes, 50 * MIB, "U-130 a record that comes after the attempt's end");
	EQ_I(b->peak_rss_bytes, 12 * MIB, "U-130 over a border: raises neither");
	sample(1.25, 10, 10, 1);
	EQ_D(a->peak_cpus, .8, 1e-9, "U-73 the sample after it covers it");
	s = finish(2, 1.01);
	EQ_I(s->attempts.n, 2, "both are in the summary");
	summary_free(s);
	run_free(&run);
}

static void only_one(void)
{
	struct summary *s;

	start();
	begin("a", 1, 10, 10, 0);
	process_ends(.5, 1.8, 80, 1);
	end("a", 2, 10, 20, .5);
	s = finish(3, 1);
	EQ_I(s->attempts.first->peak_rss_bytes, 80 * MIB, "U-74 the only one: all is its own");
	EQ_S(peak_source_name(s->attempts.first->source), "exit", "U-74 its source");
	summary_free(s);
	run_free(&run);
}

static void not_ended(void)
{
	struct summary *s;

	start();
	begin("a", 1, 10, 10, .25);
	begin("b", 1.5, 30, 30, .5);
	sample(2, 30, 50, 1);
	s = finish(3, 1.5);
	EQ_I(s->attempts.first->ended_ns, TIME_NONE, "U-75 not ended stays so");
	EQ_D((double)s->attempts.first->used.cpu_ns, 1.25e9, 1, "U-75 its CPU is to the end");
	EQ_I(s->attempts.last->peak_rss_bytes, 50 * MIB, "U-75 its peak too");
	summary_free(s);
	run_free(&run);
}

static void phases(void)
{
	static const struct scan_counters some = { .user_ns = 30000000,
						   .system_ns = 10000000,
						   .voluntary_switches = 7,
						   .involuntary_switches = UNKNOWN,
						   .io = { .rchar = 50 } };
	struct moment m;
	struct summary *s;

	start();
	begin("t", .1, 5, 5, 0);
	m = moment(.2, 20, 20, 0, NULL);
	run_on_phase(&run, "setup", 5, &m);
	m = moment(.5, 100, 120, .08, &some);
	run_on_phase(&run, "run 1/3", 7, &m);
	EQ_I(end("t", 1, 90, 150, .1)->n_rss_at, 2, "R-4 the phases in an attempt");
	s = finish(2, .1);
	EQ_S(s->attempts.first->rss_at[0].name, "setup", "R-4 by name");
	EQ_I(s->attempts.first->rss_at[0].rss_bytes, 20 * MIB, "R-4 after setup");
	EQ_I(s->attempts.first->rss_at[1].rss_bytes, 100 * MIB, "R-4 after the first run");
	EQ_I(s->phases.first->ended_ns, S(.5), "a phase lasts to the next");
	EQ_I(s->phases.last->ended_ns, TIME_NONE, "the last one to the end");
	EQ_I(s->phases.first->peak_rss_bytes, 120 * MIB, "a phase's peak");
	EQ_I(s->phases.first->used.cpu_user_ns, 60000000, "R-5 80 ms in the ratio of 30 to 10");
	EQ_I(s->phases.first->used.cpu_system_ns, 20000000, "R-5 and the rest");
	EQ_I(s->phases.first->used.voluntary_switches, 7, "R-6 of the living");
	EQ_I(s->phases.first->used.involuntary_switches, UNKNOWN, "0.3 unknown at one end");
	summary_free(s);
	run_free(&run);
}

static void reset(void)
{
	struct scan_counters living = { .marks_bytes = 33 * MIB };
	struct moment m;
	const struct stretch *a;

	start();
	begin("a", 1, 10, 10, 0);
	a = run.attempts.first;
	m = moment(1.1, 10, 10, 0, NULL);
	run_on_reset(&run, &m, true);
	process_ends(.5, 1.5, 70, .1);
	process_ends(1.2, 1.6, 20, .1);
	m = moment(2, 30, 80, .3, &living);
	run_on_attempt_end(&run, "a", 1, &m);
	EQ_I(a->peak_sum_bytes, 123 * MIB, "R-1 the marks since, added up, ended ones too");
	EQ_S(peak_source_name(a->sum_source), "vmhwm-reset", "R-2 its source");
	EQ_I(a->peak_rss_bytes, 80 * MIB, "R-1 the peak at one moment is another figure");
	begin("b", 4, 10, 10, .3);
	m = moment(4.1, 10, 10, .3, NULL);
	run_on_reset(&run, &m, false);
	m = moment(5, 30, 90, .3, &living);
	run_on_attempt_end(&run, "b", 1, &m);
	EQ_I(run.attempts.last->peak_sum_bytes, 90 * MIB,
	     "R-2 not all could be reset: the largest seen");
	EQ_S(peak_source_name(run.attempts.last->sum_source), "tracked", "R-2 and says so");
	run_free(&run);
}

static void misuse(void)
{
	struct moment m;

	start();
	begin("a", 1, 10, 10, 0);
	m = moment(2, 10, 10, 0, NULL);
	EQ_I(run_on_attempt_start(&run, "a", 1, &m), -EEXIST, "a second start of an open one");
	OK(!run_on_attempt_end(&run, "b", 1, &m), "an end of one that is not there");
	OK(run_on_attempt_end(&run, "a", 1, &m), "its end");
	OK(!run_on_attempt_end(&run, "a", 1, &m), "a second end");
	EQ_I(run_on_attempt_start(&run, "a", 1, &m), 0, "after its end a new attempt");
	run_free(&run);
}

/* 11,000 attempts: as many as are kept, none of the open lost. */
static void many(void)
{
	char id[32];
	struct summary *s;

	start();
	for (int i = 0; i < 11000; i++) {
		struct moment m = moment(i, 10, 10, i, NULL);
		int n = snprintf(id, sizeof(id), "%d", i);

		if (run_on_attempt_start(&run, id, (size_t)n, &m))
			exit(99);
		m = moment(i + .5, 10, 10, i + .5, NULL);
		if (i && !run_on_attempt_end(&run, id, (size_t)n, &m))
			exit(99);
		sample(i + .9, 10, 10, i + .9);
	}
	OK(run.attempts.n <= STRETCHES_MAX + 10, "kept while it runs: %zu", run.attempts.n);
	s = finish(11000, 11000);
	EQ_I(s->attempts.n + (size_t)s->attempts.omitted, 11000, "kept and omitted are all");
	EQ_S(s->attempts.first->name, "0", "the one that never ended is there");
	EQ_S(s->attempts.last->name, "10999", "and the last");
	summary_free(s);
	run_free(&run);
}

int main(void)
{
	long_run();
	exits();
	only_one();
	not_ended();
	phases();
	reset();
	misuse();
	many();
	return tap_done();
}
