// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/run_stretches.h"
#include "units.h"

#ifdef EM_ASSERT
#include <assert.h>
#define MODEL_ASSERT(cond) assert(cond)
#else
#define MODEL_ASSERT(cond) ((void)0)
#endif

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)

int run_init(struct run *r, int64_t start_ns, double min_sample_s, int n_cpus)
{
	int err;

	*r = (struct run){ .start_ns = start_ns,
			   .n_cpus = n_cpus,
			   .root_pid = UNKNOWN,
			   .oom_killed = UNKNOWN,
			   .reset_ns = TIME_NONE,
			   .budget = budget_watch_blank() };
	peak_init(&r->peak);
	err = em_meter_init(&r->meter, 0, min_sample_s, EM_MAX_MARKS);
	if (!err)
		err = top_init(&r->by_peak, TOP_PEAK, ROWS_BY_PEAK);
	if (!err)
		err = top_init(&r->by_cpu, TOP_CPU, ROWS_BY_CPU);
	if (!err)
		err = top_init(&r->failed, TOP_LATEST, ROWS_FAILED);
	if (!err)
		err = top_init(&r->running, TOP_LATEST, ROWS_RUNNING);
	if (err)
		run_free(r);
	return err;
}

void run_free(struct run *r)
{
	tree_free(&r->tree);
	em_meter_clear(&r->meter);
	groups_free(&r->groups);
	top_free(&r->by_peak);
	top_free(&r->by_cpu);
	top_free(&r->failed);
	top_free(&r->running);
	process_unref(r->root);
	stretches_free(&r->phases);
	stretches_free(&r->attempts);
	texts_free(&r->notes);
	texts_free(&r->reasons);
}

int run_on_fork(struct run *r, const struct fork_record *f)
{
	budget_on_fork(&r->budget, f, r->start_ns);
	return tree_fork(&r->tree, f);
}

int run_on_exec(struct run *r, const struct exec_record *e)
{
	return tree_exec(&r->tree, e);
}

static void add(int64_t *sum, int64_t v)
{
	if (v > 0 && __builtin_add_overflow(*sum, v, sum))
		*sum = INT64_MAX; /* a journal may say anything */
}

static void add_io(struct io_counts *sum, const struct io_counts *io)
{
	add(&sum->read_bytes, io->read_bytes);
	add(&sum->write_bytes, io->write_bytes);
	add(&sum->cancelled_write_bytes, io->cancelled_write_bytes);
	add(&sum->rchar, io->rchar);
	add(&sum->wchar, io->wchar);
	add(&sum->syscr, io->syscr);
	add(&sum->syscw, io->syscw);
}

void run_on_row(struct run *r, struct process *row)
{
	if (row->running)
		r->rows_running++;
	else
		r->rows++;
	r->counters_missing |= row->running && row->voluntary_switches < 0;
	add(&r->cpu_ns, row->cpu_ns);
	add(&r->cpu_user_ns, row->cpu_user_ns);
	add(&r->cpu_system_ns, row->cpu_system_ns);
	add(&r->minor_faults, row->minor_faults);
	add(&r->major_faults, row->major_faults);
	add(&r->voluntary_switches, row->voluntary_switches);
	add(&r->involuntary_switches, row->involuntary_switches);
	add_io(&r->io, &row->io);
	if (row->inherited_rss_bytes > r->largest_inherited_bytes)
		r->largest_inherited_bytes = row->inherited_rss_bytes;
	/* One that was makes it so; of one who may have been it is not known. */
	if (row->oom_killed == 1)
		r->oom_killed = 1;
	else if (r->oom_killed != 1 && (row->oom_killed < 0 || !r->oom_seen))
		r->oom_killed = row->oom_killed;
	r->oom_seen = true;
	if (row->notes & NOTE_MARK_RESET) {
		texts_add(&r->notes, "high-water-mark-reset");
		texts_add(&r->reasons,
			  "a high-water mark was reset: peaks before it are from samples");
	}
	/* Its number may come again, but not before it ended. */
	if (!r->root && row->pid == r->root_pid)
		r->root = process_ref(row);
	top_add(&r->by_peak, row);
	top_add(&r->by_cpu, row);
	if (process_failed(row))
		top_add(&r->failed, row);
	if (row->running)
		top_add(&r->running, row);
	groups_add(&r->groups, row);
}

/* Its high-water mark from before that was set back, if it was larger. */
static void take_mark(struct exit_record *e, int64_t mark_bytes)
{
	if (mark_bytes <= 0 || mark_bytes <= e->peak_rss_bytes)
		return;
	e->peak_rss_bytes = mark_bytes;
	e->peak_rss_exact = 0;
	e->peak_error_bytes = UNKNOWN;
	e->peak_source = PEAK_VMHWM;
	e->notes |= NOTE_HIWATER;
}

int run_on_exit(struct run *r, const struct exit_record *told, struct process **ret_row)
{
	struct exit_record own = *told, *e = &own;
	struct image image;
	struct live *live = tree_exit(&r->tree, e, &image);
	struct process *row;

	budget_on_exit(&r->budget, e, r->start_ns);
	take_mark(e, image.mark_bytes);
	row = process_new(e, r->start_ns, image.argv, image.argv_len, image.argv_truncated);
	tree_forget(live);
	if (!row) {
		r->rows_refused += !e->running;
		return -ENOMEM;
	}
	peak_on_process(&r->peak, e);
	run_stretches_on_row(r, row);
	if (!e->running)
		run_stretches_on_exit(r, row);
	run_on_row(r, row);
	if (ret_row)
		*ret_row = process_ref(row);
	process_unref(row);
	return 0;
}

/*
 * No more cores than there are can have been busy: what a late slice of the interval before adds
 * stays for the next one.
 */
double run_plausible_cpu(const struct run *r, double cpu, double now)
{
	double most = r->meter.last_cpu + (now - r->meter.last_at) * r->n_cpus;

	return r->n_cpus && cpu > most && now > r->meter.last_at ? most : cpu;
}

int64_t run_sample_rss(const struct tree_sample *s)
{
	int64_t rss = s->totals.interval_max_bytes;

	return s->scanned && s->scan.complete && s->scan.net_rss_bytes > rss ? s->scan.net_rss_bytes
									     : rss;
}

void run_on_reading(struct run *r, const struct tree_sample *s)
{
	r->totals = s->totals;
	r->has_totals = true;
	peak_on_sample(&r->peak, s);
	budget_on_sample(&r->budget, s, run_sample_rss(s), r->start_ns);
	if (s->load_read)
		load_on_reading(&r->load, &s->load, r->start_ns);
}

bool run_on_sample(struct run *r, const struct tree_sample *s)
{
	double now = SECONDS(s->at_ns - r->start_ns), cpu = SECONDS(s->totals.cpu_ns);

	double from = r->meter.last_at;
	bool kept;

	run_on_reading(r, s);
	if (s->totals.cpu_ns < 0) {
		em_meter_memory(&r->meter, run_sample_rss(s), now);
		kept = true;
	} else {
		kept = em_meter_sample(&r->meter, run_sample_rss(s), run_plausible_cpu(r, cpu, now),
				       now);
	}
	run_stretches_on_sample(r, s, from);
	return kept;
}

/* --- the end ------------------------------------------------------------------------------- */

static void say_losses(struct summary *s, const struct run_end *end, bool *ret_void,
		       bool *ret_no_upper)
{
	struct completeness *c = &s->completeness;

	*ret_void = *ret_no_upper = false;
	for (size_t i = 0; i < end->n_losses; i++) {
		const struct loss *l = &end->losses[i];

		texts_add(&c->reasons, "%s: %llu", l->what, (unsigned long long)l->count);
		*ret_void |= l->voids_upper != 0;
		*ret_no_upper |= l->voids_upper == UPPER_NONE;
	}
}

static void set_completeness(struct run *r, const struct run_end *end, struct summary *s)
{
	struct completeness *c = &s->completeness;
	const struct totals *t = &end->totals;

	c->initial = t->initial;
	c->forks = t->forks;
	c->exits = t->exits;
	c->events_lost = t->lost_exits;
	c->records_repaired = t->repaired;
	if (t->forks >= 0)
		c->running_at_end = c->initial + t->forks - t->exits;
	else
		c->running_at_end = r->rows_running;
	if (t->forks >= 0 && c->running_at_end < 0) {
		texts_add(&c->reasons, "%lld more exits than forks were seen",
			  -(long long)c->running_at_end);
		c->running_at_end = UNKNOWN;
	}
	if (t->lost_exits > r->rows_refused)
		texts_add(&c->reasons, "the ring buffer was full: %lld exit records lost",
			  (long long)(t->lost_exits - r->rows_refused));
	if (t->repaired > 0)
		texts_add(&c->reasons, "exit hook skipped %lld times: those peaks are from samples",
			  (long long)t->repaired);
	if (!end->exact_source)
		texts_add(&c->reasons, "sampled only, no exit records");
	if (end->records_missing)
		texts_add(&c->reasons, "an exit that had begun never sent its record");
	if (r->peak.outside)
		texts_add(&c->reasons,
			  "memory was changed from outside: bounds hold as far as scans saw");
	if (c->running_at_end > 0)
		texts_add(&c->reasons, "%lld process%s still ran at the end",
			  (long long)c->running_at_end, c->running_at_end == 1 ? "" : "es");
	/* Where the kernel side read it again in time the bounds hold, but it is said. */
	if (r->peak.outside_seen || t->outside_bytes > 0)
		texts_add(&s->source.notes, "changed-from-outside");
	for (size_t i = 0; i < r->notes.n; i++)
		texts_add(&s->source.notes, "%s", r->notes.at[i]);
	for (size_t i = 0; i < r->reasons.n; i++)
		texts_add(&c->reasons, "%s", r->reasons.at[i]);
	c->exact = end->exact_source && !c->reasons.n;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_living(struct usage *u, const struct scan_counters *l)
{
	u->minor_faults = count_add(u->minor_faults, l->minor_faults);
	u->major_faults = count_add(u->major_faults, l->major_faults);
	u->voluntary_switches = count_add(u->voluntary_switches, l->voluntary_switches);
	u->involuntary_switches = count_add(u->involuntary_switches, l->involuntary_switches);
	io_add(&u->io, &l->io);
}

/* The kernel's totals know of records that were lost; without them the rows' sums stand. */
static void set_usage(struct run *r, const struct run_end *end, struct summary *s)
{
	const struct totals *t = &end->totals;
	struct usage *u = &s->usage;
	bool lost = t->lost_exits > 0 || r->rows + r->rows_running == 0;

	u->peak_lower_bytes = r->peak.lower;
	u->peak_upper_bytes = r->peak.upper;
	/* What is attached to was taken in just before the start. */
	u->peak_at_ns =
		r->peak.lower_at_ns < 0 ? TIME_NONE : larger(r->peak.lower_at_ns - r->start_ns, 0);
	u->peak_source = r->peak.source;
	u->peak_process_bytes = r->peak.process;
	u->peak_sum_bytes = r->peak.sum;
	u->split = r->peak.split;
	u->cpu_ns = larger(t->cpu_ns, r->cpu_ns ? r->cpu_ns : UNKNOWN);
	if (lost || r->cpu_user_ns + r->cpu_system_ns != u->cpu_ns) {
		/* Not all rows are here: the ratio of those that are. */
		int64_t user = lost ? t->cpu_user_ns : r->cpu_user_ns;
		int64_t system = lost ? t->cpu_system_ns : r->cpu_system_ns;

		if (user >= 0 && user + system > 0)
			cpu_split(u->cpu_ns, user, system, &u->cpu_user_ns, &u->cpu_system_ns);
	} else {
		u->cpu_user_ns = r->cpu_user_ns;
		u->cpu_system_ns = r->cpu_system_ns;
	}
	u->baseline_cpu_ns = t->baseline_cpu_ns;
	u->peak_cpus = em_meter_peak_cpus(&r->meter);
	u->max_processes = t->processes_max;
	u->max_threads = t->threads_max;
	u->total_processes = t->forks < 0 ? UNKNOWN : t->initial + t->forks;
	u->minor_faults = t->minor_faults < 0 ? UNKNOWN : larger(t->minor_faults, r->minor_faults);
	u->major_faults = t->major_faults < 0 ? UNKNOWN : larger(t->major_faults, r->major_faults);
	u->voluntary_switches = t->voluntary_switches < 0
					? UNKNOWN
					: larger(t->voluntary_switches, r->voluntary_switches);
	u->involuntary_switches = t->involuntary_switches < 0 ? UNKNOWN
							      : larger(t->involuntary_switches,
								       r->involuntary_switches);
	u->io = t->lost_exits > 0 || t->io.rchar < 0 ? t->io : r->io;
	if (end->living)
		add_living(u, end->living);
}

static bool listed(struct process **rows, size_t n, const struct process *p)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i] == p)
			return true;
	return false;
}

static int collect_rows(const struct run *r, enum top_order sort, struct summary *s)
{
	const struct top *lists[] = { &r->by_peak, &r->by_cpu, &r->failed, &r->running };
	size_t most = r->by_peak.n + r->by_cpu.n + r->failed.n + r->running.n;

	s->rows = calloc(most ? most : 1, sizeof(struct process *));
	if (!s->rows)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (!listed(s->rows, s->n_rows, lists[i]->rows[k]))
				s->rows[s->n_rows++] = process_ref(lists[i]->rows[k]);
	rows_sort(s->rows, s->n_rows, sort);
	s->rows_omitted = r->rows + r->rows_running - (int64_t)s->n_rows;
	return 0;
}

static void check_sums(struct run *r, const struct run_end *end)
{
	const struct totals *t = &end->totals;

	if (t->lower_bytes < 0 || t->processes != 0 || (t->lower_bytes == 0 && t->upper_bytes == 0))
		return;
	texts_add(&r->reasons, "the sums of a run without processes were not 0");
	MODEL_ASSERT(end->n_losses);
}

static void check_bounds(const struct run *r, const struct summary *s)
{
	(void)r;
	(void)s;
	if (s->usage.peak_upper_bytes < 0)
		return;
	MODEL_ASSERT(s->usage.peak_lower_bytes <= s->usage.peak_upper_bytes);
	for (size_t i = 0; i < s->n_marks; i++)
		MODEL_ASSERT(s->marks[i].rss <= s->usage.peak_upper_bytes);
	for (size_t i = 0; i < s->n_rows; i++)
		MODEL_ASSERT(s->rows[i]->peak_source == PEAK_LIFETIME ||
			     s->rows[i]->peak_rss_bytes <= s->usage.peak_upper_bytes);
}

/* What was used up to now is what the meter says, and no other number (SPEC 6). */
static int judge_host(const struct run *r, const struct run_end *end, struct summary *s)
{
	struct load_reading last;

	if (!end->load)
		return load_finish(&r->load, NULL, UNKNOWN, r->start_ns, &s->host_load);
	last = *end->load;
	last.tree_ns = s->usage.cpu_ns;
	return load_finish(&r->load, &last, end->window_ns, r->start_ns, &s->host_load);
}

int run_finish(struct run *r, const struct run_end *end, enum top_order sort, struct summary *s)
{
	double now = SECONDS(end->at_ns - r->start_ns);
	bool void_upper, no_upper;
	int err;

	peak_on_totals(&r->peak, &end->totals);
	check_sums(r, end);
	say_losses(s, end, &void_upper, &no_upper);
	/* A source that has nothing but the marks does not know what they were before. */
	if (r->marks_set_back && end->totals.lower_bytes < 0 && r->peak.kernel_upper > 0) {
		void_upper = true;
		texts_add(
			&r->reasons,
			"high-water marks were set back: the upper bound is the sum of all peaks");
	}
	peak_finish(&r->peak, void_upper || end->records_missing);
	if (no_upper)
		r->peak.upper = UNKNOWN;
	set_completeness(r, end, s);
	set_usage(r, end, s);
	s->rusage = end->rusage;
	em_meter_end(&r->meter, larger(r->peak.process, UNKNOWN),
		     SECONDS(larger(s->usage.cpu_ns, 0)), now);
	run_stretches_end(r, end, s);
	s->n_marks = em_meter_aged(&r->meter, now, s->marks, EM_MAX_MARKS);
	tree_sort_peak(&r->tree);
	/* They are of the kernel's own maximum. */
	if (r->peak.source == PEAK_TRACKED && r->peak.lower == r->peak.kernel_lower) {
		memcpy(s->at_peak, r->tree.at_peak, sizeof(s->at_peak));
		s->n_at_peak = r->tree.n_at_peak;
	}
	s->root = r->root;
	r->root = NULL;
	s->n_groups = groups_list(&r->groups, s->groups);
	err = collect_rows(r, sort, s);
	if (!err)
		err = judge_host(r, end, s);
	budget_judge(&r->budget, s);
	if (!err)
		check_bounds(r, s);
	return err;
}
