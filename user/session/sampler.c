// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/sampler.h"

#include <time.h>

#include "units.h"

#define SCAN_BUDGET_NS  NS_PER_MS
#define VMSTAT_EVERY_NS NS_PER_S
/* A sum this much above a scan is looked at again a little later, when every tick has come. */
#define DOUBT_BYTES    (1 << 20)
#define DOUBT_AGAIN_NS (25 * NS_PER_MS)

/* Pages that the kernel took from processes or the cache since the last look (SPEC U-131). */
static bool pages_stolen(struct sampler *s, int64_t now)
{
	struct proc_vmstat v;
	bool moved;

	if (s->has_vmstat && now - s->vmstat_at_ns < VMSTAT_EVERY_NS)
		return false;
	if (scan_vmstat(&v))
		return false;
	moved = s->has_vmstat && (v.stolen_pages != s->vmstat.stolen_pages ||
				  v.swapped_out_pages != s->vmstat.swapped_out_pages);
	s->vmstat = v;
	s->vmstat_at_ns = now;
	s->has_vmstat = true;
	return moved;
}

/* The source gives its interval maximum once; it stays here until a sample takes it. */
void sampler_totals(struct sampler *s, struct tree_sample *t)
{
	source_sample(s->source, t);
	if (t->totals.interval_max_bytes > s->interval_max_bytes)
		s->interval_max_bytes = t->totals.interval_max_bytes;
	t->totals.interval_max_bytes = s->interval_max_bytes;
}

void sampler_load(struct sampler *s, struct load_reading *ret)
{
	int64_t helper = s->source->helper_cpu_ns;

	load_read(&s->load, ret);
	s->load_at_ns = ret->at_ns;
	if (s->source->helper)
		helper = scan_cpu_ns(s->source->helper);
	ret->self_ns = helper < 0 ? UNKNOWN : ret->self_ns + helper;
}

/* Right after the totals, so that both are of one moment; not for a window that is too short. */
static void look_at_machine(struct sampler *s, struct tree_sample *t)
{
	if (t->at_ns - s->load_at_ns < LOAD_MIN_SPAN_NS)
		return;
	sampler_load(s, &t->load);
	t->load.tree_ns = t->totals.cpu_ns;
	t->load_read = true;
}

/*
 * Checks the kernel's sum against /proc (DESIGN: "to check the map"), which can be done when all
 * of the tree sleeps: then the sum before and after the scan is that of what the scan read.
 */
static void check_sum(struct sampler *s, struct tree_sample *t)
{
	struct tree_sample after = *t;
	int64_t least = t->totals.lower_bytes, most = least, net = t->scan.net_rss_bytes;

	sampler_totals(s, &after);
	if (after.totals.lower_bytes < least)
		least = after.totals.lower_bytes;
	if (after.totals.lower_bytes > most)
		most = after.totals.lower_bytes;
	t->checked = t->settled && after.settled && t->scan.complete && !t->scan.awake &&
		     t->scan.processes == t->totals.processes &&
		     t->scan.processes == after.totals.processes;
	t->doubtful = t->checked && (least > net + DOUBT_BYTES || most + DOUBT_BYTES < net);
}

/* How long a pass may take; what is the only sum there is is whole. */
static int64_t pass_budget_ns(const struct sampler *s)
{
	return s->source->info.sums ? SCAN_BUDGET_NS : 0;
}

/* @budget_ns 0: no limit. */
static void read_scan(struct sampler *s, int64_t budget_ns, struct tree_sample *t)
{
	struct scan_result again;

	t->pages_stolen = pages_stolen(s, t->at_ns);
	t->scanned = true;
	scan_pass(s->scan, budget_ns, false, &t->scan);
	/* Larger than what the kernel summed up: only what two readings agree on counts. */
	if (t->scan.complete && t->scan.net_rss_bytes > t->totals.lower_max_bytes) {
		scan_pass(s->scan, 0, true, &again);
		t->scan.rss_bytes = again.rss_bytes;
		t->scan.net_rss_bytes = again.net_rss_bytes;
		t->scan.outside_changed |= again.outside_changed;
		t->scan.outside_grown_bytes += again.outside_grown_bytes;
	}
	check_sum(s, t);
}

/* @rss_bytes: of the tree now. */
static void read_pss(struct sampler *s, int64_t now, int64_t rss_bytes, bool asked)
{
	struct pss_pass pass;

	if (!pss_due(&s->pss, now, rss_bytes, asked))
		return;
	scan_pss(s->scan, PSS_LIMIT_NS, s->pss.peak_bytes, &pass);
	pss_take(&s->pss, clock_ns(CLOCK_MONOTONIC), rss_bytes, &pass);
}

/* For a sample that was read. */
static void add_pss(struct sampler *s, struct tree_sample *t, bool asked)
{
	int64_t now = s->source->info.sums ? t->totals.lower_bytes : run_sample_rss(t), since;

	read_pss(s, t->at_ns, now, asked);
	since = pss_since(&s->pss);
	t->pss_bytes = since > 0 ? since : 0;
}

void sampler_look_between(struct sampler *s)
{
	struct tree_sample t = { .at_ns = clock_ns(CLOCK_MONOTONIC) };

	if (!s->pss.on || !s->source->info.sums || t.at_ns < s->pss.next_ns)
		return;
	sampler_totals(s, &t);
	read_pss(s, t.at_ns, t.totals.lower_bytes, false);
}

void sampler_sample(struct sampler *s, struct tree_sample *t)
{
	sampler_totals(s, t);
	s->interval_max_bytes = UNKNOWN;
	look_at_machine(s, t);
	if (s->scanning)
		read_scan(s, pass_budget_ns(s), t);
	if (t->doubtful)
		s->doubt_at_ns = t->at_ns + DOUBT_AGAIN_NS;
	add_pss(s, t, false);
}

/* The second look: still doubtful means that memory went without its process having run. */
void sampler_look_again(struct sampler *s, struct run *run)
{
	struct tree_sample t = { .at_ns = clock_ns(CLOCK_MONOTONIC) };

	s->doubt_at_ns = 0;
	sampler_totals(s, &t);
	read_scan(s, pass_budget_ns(s), &t);
	t.scan.outside_changed |= t.doubtful;
	run_on_reading(run, &t);
}

struct moment sampler_run_moment(struct sampler *s, struct run *run, uint32_t place,
				 struct tree_sample *t)
{
	struct scan_counters living;
	struct tree_sample whole = { .at_ns = clock_ns(CLOCK_MONOTONIC) };

	*t = (struct tree_sample){ .at_ns = whole.at_ns };
	sampler_totals(s, &whole); /* brings the sums up to now */
	source_run_totals(s->source, place, &t->totals);
	if (!s->scanning)
		return run_on_moment(run, t, NULL);
	scan_count(s->scan, place, &living);
	return run_on_moment(run, t, &living);
}

struct moment sampler_moment(struct sampler *s, struct run *run, struct tree_sample *t)
{
	struct scan_counters living;

	*t = (struct tree_sample){ .at_ns = clock_ns(CLOCK_MONOTONIC) };
	sampler_totals(s, t);
	s->interval_max_bytes = UNKNOWN;
	look_at_machine(s, t);
	if (!s->scanning) {
		add_pss(s, t, true);
		return run_on_moment(run, t, NULL);
	}
	read_scan(s, 0, t);
	add_pss(s, t, true);
	scan_count(s->scan, 0, &living);
	return run_on_moment(run, t, &living);
}
