// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_model - rows, bounded lists, groups, the peak's parts and bounds, and what a run adds up to
 */
#include <errno.h>
#include <stdlib.h>

#include "model/run.h"
#include "tap.h"
#include "units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIB           (1ll << 20)

static uint64_t seed = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static struct exit_record an_exit(int32_t pid, int64_t peak_bytes, int64_t cpu_ns)
{
	struct exit_record r = { .key = { .start_ns = (uint64_t)pid * 1000, .tgid = (uint32_t)pid },
				 .pid = pid,
				 .ppid = 1,
				 .born_ns = pid * NS_PER_MS,
				 .ended_ns = pid * NS_PER_MS + NS_PER_S,
				 .comm = "a",
				 .oom_killed = UNKNOWN,
				 .peak_rss_bytes = peak_bytes,
				 .peak_rss_exact = 1,
				 .peak_source = PEAK_EXIT,
				 .split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
				 .cpu_ns = cpu_ns,
				 .cpu_user_ns = cpu_ns,
				 .threads = 1 };

	return r;
}

static struct process *a_row(int32_t pid, int64_t peak_bytes, int64_t cpu_ns)
{
	struct exit_record r = an_exit(pid, peak_bytes, cpu_ns);

	return process_new(&r, 0, NULL, 0, false);
}

/* --- process ------------------------------------------------------------------------------- */

static void test_wait_status(void)
{
	static const struct {
		const char *label;
		int32_t status;
		bool running;
		int64_t code, signal;
		int8_t core;
		bool failed;
	} rows[] = {
		{ "exit 0", 0, false, 0, UNKNOWN, 0, false },
		{ "exit 3", 3 << 8, false, 3, UNKNOWN, 0, true },
		{ "exit 255", 255 << 8, false, 255, UNKNOWN, 0, true },
		{ "SIGKILL", 9, false, UNKNOWN, 9, 0, true },
		{ "SIGSEGV with a core", 11 | 0x80, false, UNKNOWN, 11, 1, true },
		{ "signal 64", 64, false, UNKNOWN, 64, 0, true },
		{ "unknown", UNKNOWN, false, UNKNOWN, UNKNOWN, UNKNOWN, false },
		{ "running", 0, true, UNKNOWN, UNKNOWN, UNKNOWN, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct exit_record r = an_exit(7, MIB, 0);
		struct process *p;

		r.wait_status = rows[i].status;
		r.running = rows[i].running;
		p = process_new(&r, 5, NULL, 0, false);
		EQ_I(p->exit_code, rows[i].code, "%s: code", rows[i].label);
		EQ_I(p->exit_signal, rows[i].signal, "%s: signal", rows[i].label);
		EQ_I(p->core_dumped, rows[i].core, "%s: core", rows[i].label);
		EQ_I(process_failed(p), rows[i].failed, "%s: failed", rows[i].label);
		EQ_I(p->started_ns, r.born_ns - 5, "%s: started", rows[i].label);
		EQ_I(p->ended_ns, rows[i].running ? TIME_NONE : r.ended_ns - 5, "%s: ended",
		     rows[i].label);
		process_unref(p);
	}
}

static void test_row_arguments(void)
{
	struct exit_record r = an_exit(7, MIB, 0);
	struct process *p;

	p = process_new(&r, 0, "a\0bc", 5, true);
	OK(p->argv_known && p->argv_truncated && p->argv_len == 5 && !memcmp(p->argv, "a\0bc", 5),
	   "arguments are copied whole");
	process_unref(p);
	p = process_new(&r, 0, NULL, 0, true);
	OK(!p->argv_known && !p->argv_truncated && !p->argv_len, "no arguments are unknown ones");
	process_unref(p);
	r.born_ns = UNKNOWN;
	p = process_new(&r, 100, "", 0, false);
	OK(p->argv_known && !p->argv_len, "an empty list of arguments is known");
	EQ_I(p->started_ns, TIME_NONE, "an unknown start");
	process_unref(p);
	process_unref(NULL);
	p = process_blank(0);
	EQ_I(p->peak_rss_bytes, UNKNOWN, "a blank row knows nothing");
	EQ_I(p->io.syscw, UNKNOWN, "not its I/O either");
	process_unref(p);
}

static void test_names(void)
{
	for (int i = PEAK_NONE; i <= PEAK_RUSAGE; i++)
		EQ_I(peak_source_of(peak_source_name((enum peak_source)i)), i, "peak source %d", i);
	EQ_I(peak_source_of("magic"), PEAK_NONE, "a source nobody knows");
	EQ_S(record_note_name(NOTE_REPAIRED), "exit-hook-skipped", "a note");
	EQ_S(record_note_name((enum record_note)(1 << 20)), NULL, "a note nobody knows");
}

/* --- lists --------------------------------------------------------------------------------- */

#define MANY 2000
#define KEPT 50

static void free_rows(struct process **rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		process_unref(rows[i]);
}

static void test_top(enum top_order order, const char *label)
{
	struct process *rows[MANY];
	struct top top;
	bool same = true;

	EQ_I(top_init(&top, order, KEPT), 0, "%s: init", label);
	for (int i = 0; i < MANY; i++) {
		rows[i] = a_row(i + 1, (int64_t)random_below(1 << 20), (int64_t)random_below(500));
		top_add(&top, rows[i]);
	}
	rows_sort(rows, MANY, order);
	EQ_I(top.n, KEPT, "%s: as many as fit", label);
	rows_sort(top.rows, top.n, order);
	for (int i = 0; i < KEPT; i++) {
		const struct process *want = order == TOP_LATEST ? rows[MANY - KEPT + i] : rows[i];

		if (order == TOP_PEAK)
			same &= top.rows[i]->peak_rss_bytes == want->peak_rss_bytes;
		else if (order == TOP_CPU) /* equal ones may stand for each other */
			same &= top.rows[i]->cpu_ns == want->cpu_ns;
		else
			same &= top.rows[i] == want;
	}
	OK(same, "%s: those that sorting puts there", label);
	top_free(&top);
	for (int i = 0; i < MANY; i++)
		if (rows[i]->refs != 1)
			same = false;
	OK(same, "%s: every reference is given back", label);
	free_rows(rows, MANY);
}

static void test_sort(void)
{
	struct process *rows[] = { a_row(3, MIB, 1), a_row(1, MIB, 1), a_row(2, 2 * MIB, 0) };

	rows_sort(rows, 3, TOP_PEAK);
	OK(rows[0]->pid == 2 && rows[1]->pid == 1 && rows[2]->pid == 3,
	   "equal figures stand by start");
	rows_sort(rows, 3, TOP_CPU);
	OK(rows[0]->pid == 1 && rows[1]->pid == 3 && rows[2]->pid == 2, "by CPU");
	rows_sort(rows, 3, TOP_LATEST);
	OK(rows[0]->pid == 1 && rows[1]->pid == 2 && rows[2]->pid == 3, "by start");
	free_rows(rows, 3);
}

static void test_groups(void)
{
	static struct group list[GROUPS_MAX + 1];
	struct groups g = { 0 };
	int64_t processes = 0, cpu_ns = 0;
	size_t n;

	EQ_I(groups_list(&g, list), 0, "no groups at first");
	for (int i = 0; i < 900; i++) {
		struct process *p = a_row(i + 1, i % 300 * MIB, 1000 + i % 300);

		snprintf(p->comm, sizeof(p->comm), "name%d", i % 300);
		groups_add(&g, p);
		process_unref(p);
	}
	n = groups_list(&g, list);
	EQ_I(n, GROUPS_MAX + 1, "256 names and the rest");
	OK(list[n - 1].other && !*list[n - 1].comm, "the rest comes last and has no name");
	EQ_I(list[n - 1].processes, 3 * (300 - GROUPS_MAX), "the rest's processes");
	EQ_I(list[n - 1].peak_rss_bytes, 299 * MIB, "the rest's largest");
	EQ_S(list[0].comm, "name255", "the most CPU first");
	EQ_I(list[0].cpu_ns, 3 * 1255, "its CPU");
	EQ_I(list[0].peak_rss_bytes, 255 * MIB, "its largest");
	for (size_t i = 0; i < n; i++) {
		processes += list[i].processes;
		cpu_ns += list[i].cpu_ns;
	}
	EQ_I(processes, 900, "every process is in one");
	EQ_I(cpu_ns, 3 * (300 * 1000 + 299 * 150), "and its CPU");
	groups_free(&g);
}

static void test_groups_unknown(void)
{
	struct group list[GROUPS_MAX + 1];
	struct groups g = { 0 };
	struct process *p = a_row(1, UNKNOWN, UNKNOWN);

	memcpy(p->comm, "sixteen-bytes-ok", sizeof(p->comm));
	groups_add(&g, p);
	p->comm[3] = '\0'; /* what stands behind the end is not of the name */
	groups_add(&g, p);
	memset(p->comm + 4, 0, sizeof(p->comm) - 4);
	groups_add(&g, p);
	EQ_I(groups_list(&g, list), 2, "two names");
	EQ_I(list[0].peak_rss_bytes, UNKNOWN, "an unknown peak stays unknown");
	EQ_I(list[0].cpu_ns, UNKNOWN, "so does CPU");
	memcpy(p->comm, "new", 4);
	p->cpu_ns = 5;
	groups_add(&g, p);
	groups_add(&g, p);
	groups_list(&g, list);
	EQ_I(list[0].cpu_ns, 10, "CPU of all that is known");
	p->cpu_ns = UNKNOWN;
	groups_add(&g, p);
	groups_list(&g, list);
	for (size_t i = 0; i < 3; i++)
		EQ_I(list[i].cpu_ns, UNKNOWN, "with one that is not known the sum is not");
	process_unref(p);
	groups_free(&g);
}

/* --- the tree ------------------------------------------------------------------------------ */

static void end_in(struct tree *t, int32_t pid, int64_t at_peak, uint64_t epoch, const char *comm)
{
	struct exit_record r = an_exit(pid, at_peak, 0);
	struct image image;

	r.at_peak_bytes = at_peak;
	r.at_peak_epoch = epoch;
	snprintf(r.comm, sizeof(r.comm), "%s", comm);
	tree_forget(tree_exit(t, &r, &image));
}

static void test_at_peak(void)
{
	struct tree t = { 0 };

	end_in(&t, 1, 10, 1, "old");
	end_in(&t, 2, 20, 3, "b");
	end_in(&t, 3, 99, 2, "late");
	end_in(&t, 4, 30, 3, "c");
	end_in(&t, 5, 0, 9, "nothing");
	EQ_I(t.n_at_peak, 2, "only the parts of the newest peak");
	tree_sort_peak(&t);
	OK(t.at_peak[0].pid == 4 && t.at_peak[1].pid == 2, "the largest first");
	EQ_S(t.at_peak[0].comm, "c", "by name");
	for (int i = 0; i < 2 * AT_PEAK_MAX; i++)
		end_in(&t, 1000 + i, 100 + i, 3, "many");
	EQ_I(t.n_at_peak, AT_PEAK_MAX, "no more than fit");
	tree_sort_peak(&t);
	EQ_I(t.at_peak[0].rss_bytes, 100 + 2 * AT_PEAK_MAX - 1, "the largest is kept");
	EQ_I(t.at_peak[AT_PEAK_MAX - 1].rss_bytes, 100 + AT_PEAK_MAX, "the smallest went");
	end_in(&t, 9, 1, 4, "next");
	EQ_I(t.n_at_peak, 1, "a new peak forgets the old one");
	tree_free(&t);
}

static void test_images(void)
{
	struct tree t = { 0 };
	struct fork_record f = { .key = { .start_ns = 7000, .tgid = 7 }, .pid = 7 };
	struct exec_record e = {
		.key = f.key, .comm = "first", .argv = "first\0x", .argv_len = 8, .argv_known = true
	};
	struct exit_record r = an_exit(7, MIB, 0);
	struct image image;
	struct live *l;

	EQ_I(tree_fork(&t, &f), 0, "fork");
	EQ_I(tree_fork(&t, &f), 0, "the same fork again");
	EQ_I(t.n, 1, "is the same process");
	tree_exec(&t, &e);
	memcpy(e.comm, "second", 7);
	e.argv = "second";
	e.argv_len = 7;
	e.at_peak_bytes = 5;
	e.at_peak_epoch = 1;
	tree_exec(&t, &e);
	EQ_S(t.at_peak[0].comm, "first", "the old image's part has the old name");
	l = tree_exit(&t, &r, &image);
	OK(l && image.argv && !strcmp(image.argv, "second") && image.argv_len == 7,
	   "the last image's arguments");
	EQ_I(t.n, 0, "it is out of the tree");
	tree_forget(l);
	OK(!tree_exit(&t, &r, &image) && !image.argv, "an end of a process nobody knows");
	e.key.start_ns = 1;
	EQ_I(tree_exec(&t, &e), 0, "an exec without a fork adds it");
	EQ_I(t.n, 1, "to the living");
	tree_free(&t);
}

/* --- the peak ------------------------------------------------------------------------------ */

static const struct totals no_totals = { .lower_max_bytes = UNKNOWN,
					 .upper_max_bytes = UNKNOWN,
					 .lower_max_at_ns = UNKNOWN };

static struct tree_sample a_sample(int64_t at_ns, int64_t lower, int64_t upper)
{
	struct tree_sample s = { .at_ns = at_ns, .totals = no_totals };

	s.totals.lower_max_bytes = lower;
	s.totals.upper_max_bytes = upper;
	s.totals.lower_max_at_ns = at_ns - 1;
	s.scan.split.anon_bytes = UNKNOWN;
	return s;
}

static void test_peak_kernel(void)
{
	struct peak p;
	struct tree_sample s;
	struct exit_record r = an_exit(1, 3 * MIB, 0);

	peak_init(&p);
	peak_finish(&p, false);
	OK(p.lower == UNKNOWN && p.upper == UNKNOWN && p.sum == UNKNOWN, "nothing is unknown");
	s = a_sample(10, 5 * MIB, 6 * MIB);
	peak_on_sample(&p, &s);
	s = a_sample(20, 4 * MIB, 4 * MIB);
	peak_on_sample(&p, &s);
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.lower, 5 * MIB, "the kernel's lower");
	EQ_I(p.lower_at_ns, 9, "when it was");
	EQ_I(p.upper, 6 * MIB, "the kernel's upper");
	EQ_I(p.source, PEAK_TRACKED, "from the tracked sum");
	EQ_I(p.process, 3 * MIB, "the largest process");
	EQ_I(p.sum, 3 * MIB, "the plain sum");
	r.peak_rss_bytes = 9 * MIB;
	r.peak_error_bytes = MIB;
	r.notes = NOTE_HIWATER;
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.lower, 8 * MIB, "one process less its error can be more than that");
	EQ_I(p.source, PEAK_EXIT, "then it is the source");
	EQ_I(p.upper, 9 * MIB, "no process is above upper, nor is lower");
	peak_finish(&p, true);
	EQ_I(p.upper, 12 * MIB, "a void upper: the plain sum bounds");
	r.peak_rss_bytes = 50 * MIB;
	r.peak_error_bytes = UNKNOWN;
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.lower, 8 * MIB, "a mark without an error bound raises no lower bound");
	r.peak_rss_bytes = 70 * MIB;
	r.peak_since_bytes = 10 * MIB;
	r.peak_source = PEAK_LIFETIME;
	r.notes = 0;
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.lower, 10 * MIB, "a lifetime's mark: what it had since counts");
	EQ_I(p.source, PEAK_TRACKED, "as tracked");
}

static void test_peak_scan(void)
{
	struct peak p;
	struct tree_sample s = a_sample(10, 5 * MIB, 5 * MIB);

	s.scanned = true;
	s.scan = (struct scan_result){ .complete = true,
				       .processes = 2,
				       .rss_bytes = 9 * MIB,
				       .net_rss_bytes = 7 * MIB,
				       .split = { 3, 2, 1, 0, 0 } };
	peak_init(&p);
	peak_on_sample(&p, &s);
	s.at_ns = 11;
	s.scan.complete = false;
	s.scan.net_rss_bytes = s.scan.rss_bytes = 90 * MIB;
	s.scan.split.anon_bytes = UNKNOWN;
	peak_on_sample(&p, &s);
	peak_finish(&p, false);
	EQ_I(p.lower, 7 * MIB, "a complete scan saw more: net");
	EQ_I(p.lower_at_ns, 10, "at its time; an incomplete one does not count");
	EQ_I(p.source, PEAK_SCAN, "it is the source");
	EQ_I(p.upper, 9 * MIB, "its gross is an upper bound");
	EQ_I(p.split.anon_bytes, 3, "the split of the largest reading");
}

static void test_peak_outside(void)
{
	struct peak p;
	struct tree_sample s = a_sample(10, 5 * MIB, 5 * MIB);

	s.scanned = s.checked = true;
	s.scan.split.anon_bytes = UNKNOWN;
	peak_init(&p);
	peak_on_sample(&p, &s);
	s = a_sample(20, 9 * MIB, 10 * MIB);
	s.scanned = true;
	s.scan.outside_changed = true;
	s.scan.outside_grown_bytes = MIB;
	peak_on_sample(&p, &s);
	peak_finish(&p, false);
	EQ_I(p.outside, 1, "changed from outside");
	EQ_I(p.lower, 5 * MIB, "lower: what was confirmed before");
	EQ_I(p.lower_at_ns, 9, "when that was");
	EQ_I(p.upper, 11 * MIB, "upper: with what grew from outside");
	peak_init(&p);
	s = a_sample(10, MIB, MIB);
	s.pages_stolen = true;
	peak_on_sample(&p, &s);
	EQ_I(p.outside, 1, "pages were taken");
}

static void test_peak_lost(void)
{
	struct peak p;
	struct totals t = no_totals;
	struct exit_record r = an_exit(1, 2 * MIB, 0);

	peak_init(&p);
	t.largest_peak_bytes = 8 * MIB;
	t.sum_peak_bytes = 10 * MIB;
	peak_on_totals(&p, &t);
	EQ_I(p.process, UNKNOWN, "nothing lost: the largest comes with its record");
	t.lost_exits = 1;
	peak_on_totals(&p, &t);
	EQ_I(p.process, 8 * MIB, "a lost record's peak is in the totals");
	r.running = true;
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.sum, 12 * MIB, "the ended from the totals, the living from their rows");
	EQ_I(p.upper, UNKNOWN, "no sums, no upper bound");
	r.peak_rss_bytes = INT64_MAX;
	peak_on_process(&p, &r);
	peak_finish(&p, false);
	EQ_I(p.sum, INT64_MAX, "sums end at the largest number");
}

/* --- the run ------------------------------------------------------------------------------- */

static struct run_end an_end(int64_t at_ns, int64_t exits)
{
	struct run_end end = { .at_ns = at_ns,
			       .totals = no_totals,
			       .exact_source = true,
			       .rusage = { UNKNOWN, UNKNOWN, UNKNOWN } };

	end.totals.initial = 1;
	end.totals.forks = exits - 1;
	end.totals.exits = end.totals.records = exits;
	end.totals.upper_max_bytes = 1ll << 40;
	end.totals.lower_max_bytes = 1ll << 39;
	return end;
}

static void exits(struct run *r, int n)
{
	for (int i = 1; i <= n; i++) {
		struct exit_record e = an_exit(i, i * MIB, i * NS_PER_MS);

		if (i % 7 == 0)
			e.wait_status = 1 << 8;
		run_on_exit(r, &e, NULL);
	}
}

static void test_run_whole(void)
{
	struct run r;
	struct summary *s = summary_new();
	struct run_end end = an_end(2 * NS_PER_S, 20);

	EQ_I(run_init(&r, NS_PER_S, 0.25, 4), 0, "init");
	exits(&r, 20);
	EQ_I(run_finish(&r, &end, TOP_PEAK, s), 0, "finish");
	EQ_I(s->completeness.initial + s->completeness.forks,
	     s->completeness.exits + s->completeness.running_at_end,
	     "initial + forks = exits + running");
	EQ_I(s->n_rows + (size_t)s->completeness.events_lost, s->completeness.exits,
	     "rows + lost = exits");
	EQ_I(s->completeness.exact, 1, "exact");
	EQ_I(s->completeness.reasons.n, 0, "no reason why not");
	EQ_I(s->usage.cpu_ns, 210 * NS_PER_MS, "CPU of all rows");
	EQ_I(s->usage.cpu_user_ns, 210 * NS_PER_MS, "as user time");
	EQ_I(s->usage.total_processes, 20, "processes");
	EQ_I(s->usage.peak_process_bytes, 20 * MIB, "largest process");
	EQ_I(s->rows_omitted, 0, "no row left out");
	EQ_I(s->rows[0]->pid, 20, "the largest first");
	EQ_I(s->n_marks, 2, "start and end");
	EQ_D(s->marks[0].at, 1.0, 0, "the start's age");
	summary_free(s);
	run_free(&r);
}

static void test_run_reasons(void)
{
	static const struct loss loss = { .what = "drops", .count = 3, .voids_upper = true };
	static const struct {
		const char *label;
		bool exact_source, missing, stolen;
		int64_t lost, repaired, still;
		size_t losses;
		const char *reason;
	} rows[] = {
		{ "no exact source", false, false, false, 0, 0, 0, 0, NULL },
		{ "a record missing", true, true, false, 0, 0, 0, 0,
		  "an exit that had begun never sent its record" },
		{ "outside", true, false, true, 0, 0, 0, 0,
		  "memory was changed from outside: bounds hold as far as scans saw" },
		{ "lost", true, false, false, 2, 0, 0, 0,
		  "the ring buffer was full: 2 exit records lost" },
		{ "repaired", true, false, false, 0, 1, 0, 0,
		  "exit hook skipped 1 times: those peaks are from samples" },
		{ "running", true, false, false, 0, 0, 2, 0, "2 processes still ran at the end" },
		{ "a fork unseen", true, false, false, 0, 0, -2, 0,
		  "2 more exits than forks were seen" },
		{ "losses", true, false, false, 0, 0, 0, 1, "drops: 3" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct summary *s = summary_new();
		struct run_end end = an_end(NS_PER_S, 3);
		struct tree_sample sample = a_sample(NS_PER_S / 2, MIB, MIB);
		struct run r;

		run_init(&r, 0, 0.25, 0);
		exits(&r, 3);
		sample.pages_stolen = rows[i].stolen;
		run_on_sample(&r, &sample);
		end.exact_source = rows[i].exact_source;
		end.records_missing = rows[i].missing;
		end.totals.lost_exits = rows[i].lost;
		end.totals.repaired = rows[i].repaired;
		end.totals.exits -= rows[i].still;
		end.losses = &loss;
		end.n_losses = rows[i].losses;
		run_finish(&r, &end, TOP_PEAK, s);
		EQ_I(s->completeness.exact, 0, "%s: not exact", rows[i].label);
		EQ_I(s->completeness.running_at_end, rows[i].still < 0 ? UNKNOWN : rows[i].still,
		     "%s: running", rows[i].label);
		if (rows[i].reason)
			EQ_S(s->completeness.reasons.at[0], rows[i].reason, "%s: reason",
			     rows[i].label);
		summary_free(s);
		run_free(&r);
	}
}

static void test_run_cores(void)
{
	static const struct {
		const char *label;
		int n_cpus;
		double want;
	} rows[] = { { "two CPUs", 2, 2.0 }, { "eight CPUs", 8, 4.0 }, { "unknown", 0, 4.0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tree_sample s = a_sample(NS_PER_S, MIB, MIB);
		struct run r;

		run_init(&r, 0, 0.25, rows[i].n_cpus);
		s.totals.cpu_ns = 4 * NS_PER_S;
		s.totals.interval_max_bytes = MIB;
		run_on_sample(&r, &s);
		EQ_D(r.meter.last_cpus, rows[i].want, 1e-12, "%s: no more cores than there are",
		     rows[i].label);
		s.at_ns += NS_PER_S;
		run_on_sample(&r, &s);
		EQ_D(r.meter.last_cpu, 4.0, 1e-12, "%s: the rest comes later", rows[i].label);
		run_free(&r);
	}
}

static void test_run_sample_rss(void)
{
	struct tree_sample s = a_sample(1, MIB, MIB);

	s.totals.interval_max_bytes = 5;
	EQ_I(run_sample_rss(&s), 5, "the kernel's");
	s.scanned = true;
	s.scan.net_rss_bytes = 7;
	EQ_I(run_sample_rss(&s), 5, "not what an incomplete scan saw");
	s.scan.complete = true;
	EQ_I(run_sample_rss(&s), 7, "a complete scan saw more");
}

static void test_run_many(void)
{
	struct run r;
	struct summary *s = summary_new();
	struct run_end end = an_end(NS_PER_S, 5000);
	int failed = 0;

	run_init(&r, 0, 0.25, 0);
	exits(&r, 5000);
	run_finish(&r, &end, TOP_LATEST, s);
	OK(s->n_rows <= ROWS_BY_PEAK + ROWS_BY_CPU + ROWS_FAILED + ROWS_RUNNING,
	   "at most 1000 rows");
	EQ_I((int64_t)s->n_rows + s->rows_omitted, 5000, "the others are counted");
	for (size_t i = 0; i < s->n_rows; i++)
		failed += process_failed(s->rows[i]);
	OK(failed >= ROWS_FAILED, "failures are among them");
	EQ_I(s->rows[s->n_rows - 1]->pid, 5000, "by start");
	EQ_I(s->completeness.exact, 1, "that leaves it exact");
	EQ_I(s->groups[0].processes, 5000, "groups cover all");
	summary_free(s);
	run_free(&r);
}

static void test_run_usage(void)
{
	struct run r;
	struct summary *s = summary_new();
	struct run_end end = an_end(NS_PER_S, 3);

	run_init(&r, 0, 0.25, 0);
	exits(&r, 2);
	end.totals.lost_exits = 1;
	end.totals.cpu_ns = 10 * NS_PER_S;
	end.totals.cpu_user_ns = 1;
	end.totals.cpu_system_ns = 3;
	end.totals.minor_faults = UNKNOWN;
	end.totals.major_faults = 7;
	end.totals.io.rchar = 11;
	run_finish(&r, &end, TOP_PEAK, s);
	EQ_I(s->usage.cpu_ns, 10 * NS_PER_S, "CPU of lost records is in the totals");
	EQ_I(s->usage.cpu_system_ns, 7500 * NS_PER_MS, "split as the totals say");
	EQ_I(s->usage.cpu_user_ns, 2500 * NS_PER_MS, "and all of it");
	EQ_I(s->usage.minor_faults, UNKNOWN, "unknown stays unknown");
	EQ_I(s->usage.major_faults, 7, "the totals know more");
	EQ_I(s->usage.io.rchar, 11, "I/O too");
	EQ_I(s->n_rows + (size_t)s->completeness.events_lost, s->completeness.exits,
	     "rows + lost = exits");
	summary_free(s);
	run_free(&r);
}

static void test_texts(void)
{
	struct texts t = { 0 };

	texts_add(&t, "%s", "one");
	texts_add(&t, "one");
	EQ_I(t.n, 1, "a sentence stands once");
	for (int i = 0; i < 2 * TEXTS_MAX; i++)
		texts_add(&t, "%d", i);
	EQ_I(t.n, TEXTS_MAX, "no more than fit");
	texts_free(&t);
	EQ_I(t.n, 0, "freed");
}

int main(void)
{
	test_wait_status();
	test_row_arguments();
	test_names();
	test_top(TOP_PEAK, "by peak");
	test_top(TOP_CPU, "by CPU, with equal ones");
	test_top(TOP_LATEST, "the latest");
	test_sort();
	test_groups();
	test_groups_unknown();
	test_at_peak();
	test_images();
	test_peak_kernel();
	test_peak_scan();
	test_peak_outside();
	test_peak_lost();
	test_run_whole();
	test_run_reasons();
	test_run_cores();
	test_run_sample_rss();
	test_run_many();
	test_run_usage();
	test_texts();
	return tap_done();
}
