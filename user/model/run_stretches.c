// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/run_stretches.h"

#include <errno.h>

#include "units.h"

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)
/* The record of an end comes that much after it at most. */
#define LATE_NS (2 * NS_PER_S)
/* "reset-peak" right before an attempt is for it. */
#define RESET_NEAR_NS NS_PER_S

/* Of the rows, which are the ended. */
static struct counters rows_so_far(const struct run *r)
{
	return (struct counters){ .cpu_ns = r->cpu_ns,
				  .cpu_user_ns = r->cpu_user_ns,
				  .cpu_system_ns = r->cpu_system_ns,
				  .voluntary_switches = r->voluntary_switches,
				  .involuntary_switches = r->involuntary_switches,
				  .minor_faults = r->minor_faults,
				  .major_faults = r->major_faults,
				  .io = r->io };
}

static struct counters so_far(const struct run *r, const struct totals *t,
			      const struct scan_counters *living)
{
	struct counters ended = rows_so_far(r), all = counters_unknown();

	if (living && t->lost_exits <= 0) {
		struct counters now = { .cpu_ns = 0,
					.cpu_user_ns = living->user_ns,
					.cpu_system_ns = living->system_ns,
					.voluntary_switches = living->voluntary_switches,
					.involuntary_switches = living->involuntary_switches,
					.minor_faults = living->minor_faults,
					.major_faults = living->major_faults,
					.io = living->io };

		all = counters_sum(&ended, &now);
	} else if (!living) {
		all.cpu_user_ns = t->cpu_user_ns;
		all.cpu_system_ns = t->cpu_system_ns;
	}
	all.cpu_ns = t->cpu_ns;
	return all;
}

static enum peak_source source_of(const struct tree_sample *s)
{
	return s->totals.lower_bytes >= 0 && run_sample_rss(s) == s->totals.interval_max_bytes
		       ? PEAK_TRACKED
		       : PEAK_SCAN;
}

static void look(struct run *r, const struct tree_sample *s)
{
	const struct scan_result *scan = s->scanned ? &s->scan : NULL;
	int64_t rss = run_sample_rss(s);

	stretches_on_look(&r->phases, rss, source_of(s), scan, s->totals.threads);
	stretches_on_look(&r->attempts, rss, source_of(s), scan, s->totals.threads);
}

static void cores(struct run *r, double from)
{
	int64_t from_ns = (int64_t)(from * (double)NS_PER_S);

	if (r->meter.last_cpus < 0)
		return;
	stretches_on_cpus(&r->phases, from_ns, r->meter.last_cpus);
	stretches_on_cpus(&r->attempts, from_ns, r->meter.last_cpus);
}

void run_stretches_on_sample(struct run *r, const struct tree_sample *s, double from)
{
	int64_t past = s->at_ns - r->start_ns - LATE_NS;
	int64_t from_ns = (int64_t)(from * (double)NS_PER_S);

	look(r, s);
	cores(r, from);
	stretches_settle(&r->phases, past < from_ns ? past : from_ns);
	stretches_settle(&r->attempts, past < from_ns ? past : from_ns);
}

void run_stretches_on_row(struct run *r, const struct process *row)
{
	struct stretch *only = r->attempts.first;

	if (!only || r->attempts.n != 1 || row->peak_rss_bytes <= only->met_bytes ||
	    row->started_ns == TIME_NONE)
		return;
	if ((row->ended_ns != TIME_NONE && row->ended_ns < only->started_ns) ||
	    (only->ended_ns != TIME_NONE && row->started_ns > only->ended_ns))
		return;
	only->met_bytes = row->peak_rss_bytes;
	only->met_source = row->peak_source;
}

void run_stretches_on_exit(struct run *r, const struct process *row)
{
	if (row->started_ns == TIME_NONE || row->ended_ns == TIME_NONE)
		return;
	stretches_on_exit(&r->phases, row->started_ns, row->ended_ns, row->peak_rss_bytes);
	stretches_on_exit(&r->attempts, row->started_ns, row->ended_ns, row->peak_rss_bytes);
}

struct moment run_on_moment(struct run *r, const struct tree_sample *s,
			    const struct scan_counters *living)
{
	double now = SECONDS(s->at_ns - r->start_ns), cpu = SECONDS(s->totals.cpu_ns);
	bool scanned = s->scanned && s->scan.complete;
	struct moment m = { .at_ns = s->at_ns - r->start_ns,
			    .rss_bytes = s->totals.lower_bytes,
			    .source = PEAK_TRACKED,
			    .threads = s->totals.threads,
			    .marks_bytes = living ? living->marks_bytes : UNKNOWN,
			    .so_far = so_far(r, &s->totals, living) };

	/* What is resident now, by /proc where it was read. */
	if (scanned) {
		m.rss_bytes = s->scan.net_rss_bytes;
		m.source = PEAK_SCAN;
	}
	run_on_reading(r, s);
	em_meter_reading(&r->meter, run_sample_rss(s), run_plausible_cpu(r, cpu, now), now);
	look(r, s);
	cores(r, r->meter.last_at);
	return m;
}

void run_on_mark(struct run *r, struct process_key key, int64_t mark_bytes)
{
	tree_mark(&r->tree, key, mark_bytes);
	r->marks_set_back = true;
}

void run_on_reset(struct run *r, const struct moment *m, bool all)
{
	r->reset_ns = all ? m->at_ns : TIME_NONE;
	stretches_on_reset(&r->phases, m, all);
	stretches_on_reset(&r->attempts, m, all);
}

static int begin(struct run *r, struct stretches *list, const char *name, size_t len,
		 const struct moment *m)
{
	int err = stretch_start(list, name, len, m);

	if (!err && r->reset_ns != TIME_NONE && m->at_ns - r->reset_ns <= RESET_NEAR_NS)
		list->last->marks_reset = true;
	return err;
}

struct em_usage run_usage_so_far(const struct run *r)
{
	struct peak peak = r->peak;

	peak_finish(&peak, false);
	return (struct em_usage){ peak.lower, r->totals.cpu_ns < 0 ? -1 : SECONDS(r->totals.cpu_ns),
				  em_meter_peak_cpus(&r->meter) };
}

int run_on_phase(struct run *r, const char *name, size_t len, const struct moment *m)
{
	struct stretch *before = stretch_open(&r->phases, NULL, 0);
	int err;

	if (before)
		stretch_end(before, m);
	err = begin(r, &r->phases, name, len, m);
	if (!err)
		err = stretches_on_phase(&r->attempts, r->phases.last->name, m->rss_bytes);
	if (err != -E2BIG)
		return err;
	texts_add(&r->notes, "phases-of-an-attempt-left-out");
	return 0;
}

int run_on_attempt_start(struct run *r, const char *id, size_t len, const struct moment *m)
{
	if (stretch_open(&r->attempts, id, len))
		return -EEXIST;
	return begin(r, &r->attempts, id, len, m);
}

struct stretch *run_on_attempt_end(struct run *r, const char *id, size_t len,
				   const struct moment *m)
{
	struct stretch *s = stretch_open(&r->attempts, id, len);

	if (s)
		stretch_end(s, m);
	return s;
}

/* --- the end ------------------------------------------------------------------------------- */

static void close_open(struct stretches *all, const struct moment *m)
{
	for (struct stretch *s = all->live; s; s = s->next) {
		if (s->ended_ns != TIME_NONE)
			continue;
		stretch_end(s, m);
		s->ended_ns = TIME_NONE; /* it had not ended when the run did */
	}
}

/* The most since the last look is theirs who are still open. */
static void look_last(struct run *r, const struct totals *t)
{
	enum peak_source source = t->lower_bytes >= 0 ? PEAK_TRACKED : PEAK_SCAN;

	if (t->interval_max_bytes <= 0)
		return;
	stretches_on_look(&r->phases, t->interval_max_bytes, source, NULL, t->threads);
	stretches_on_look(&r->attempts, t->interval_max_bytes, source, NULL, t->threads);
}

void run_stretches_end(struct run *r, const struct run_end *end, struct summary *s)
{
	struct moment m = { .at_ns = end->at_ns - r->start_ns,
			    .rss_bytes = UNKNOWN,
			    .threads = UNKNOWN,
			    .marks_bytes = r->peak.running_sum,
			    .so_far = end->living ? so_far(r, &end->totals, end->living)
						  : rows_so_far(r) };
	struct stretch *only = r->attempts.first;

	look_last(r, &end->totals);
	if (r->counters_missing || r->totals.lost_exits != 0)
		m.so_far = counters_unknown();
	m.so_far.cpu_ns = s->usage.cpu_ns;
	m.so_far.cpu_user_ns = s->usage.cpu_user_ns;
	m.so_far.cpu_system_ns = s->usage.cpu_system_ns;
	close_open(&r->phases, &m);
	close_open(&r->attempts, &m);
	/* U-74: of one attempt all is its own, of whoever lived in it. */
	if (only && r->attempts.n == 1 && !r->attempts.omitted &&
	    only->met_bytes > only->peak_rss_bytes) {
		only->peak_rss_bytes = only->met_bytes;
		only->source = only->met_source;
		if (only->peak_sum_bytes < only->peak_rss_bytes) {
			only->peak_sum_bytes = only->peak_rss_bytes;
			only->sum_source = only->source;
		}
	}
	s->aged_ns = m.at_ns;
	s->phases = r->phases;
	s->attempts = r->attempts;
	r->phases = r->attempts = (struct stretches){ 0 };
}
