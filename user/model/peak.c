// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/peak.h"

void peak_init(struct peak *p)
{
	*p = (struct peak){ .lower = UNKNOWN,
			    .lower_at_ns = UNKNOWN,
			    .upper = UNKNOWN,
			    .kernel_lower = UNKNOWN,
			    .kernel_upper = UNKNOWN,
			    .kernel_at_ns = UNKNOWN,
			    .confirmed = UNKNOWN,
			    .scan = UNKNOWN,
			    .scan_gross = UNKNOWN,
			    .process = UNKNOWN,
			    .process_lower = UNKNOWN,
			    .sum = UNKNOWN,
			    .split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
			    .split_bytes = UNKNOWN };
}

void peak_on_totals(struct peak *p, const struct totals *t)
{
	if (t->lower_max_bytes > p->kernel_lower) {
		p->kernel_lower = t->lower_max_bytes;
		p->kernel_at_ns = t->lower_max_at_ns;
	}
	if (t->upper_max_bytes > p->kernel_upper)
		p->kernel_upper = t->upper_max_bytes;
	/* Records that were lost are in the totals. */
	if (t->sum_peak_bytes > p->ended_sum)
		p->ended_sum = t->sum_peak_bytes;
	/* Only what no record can say: some were lost, or (-1) there are none. */
	if (t->lost_exits != 0 && t->largest_peak_bytes > p->process) {
		p->process = t->largest_peak_bytes;
		/* It may be a mark; where there are sums, they have what was seen of it. */
		if (t->lower_max_bytes >= 0)
			return;
		p->process_lower = t->largest_peak_bytes;
		p->process_at_ns = UNKNOWN;
		p->process_source = t->lost_exits > 0 ? PEAK_EXIT : PEAK_RUSAGE;
	}
}

/* SPEC R-3: the split of the largest reading, not the largest of each part. */
static void take_split(struct peak *p, const struct rss_split *split, int64_t bytes)
{
	if (split->anon_bytes < 0 || bytes <= p->split_bytes)
		return;
	p->split_bytes = bytes;
	p->split = *split;
}

void peak_on_sample(struct peak *p, const struct tree_sample *s)
{
	const struct scan_result *r = &s->scan;

	peak_on_totals(p, &s->totals);
	if (s->scanned) {
		take_split(p, &r->split, r->rss_bytes);
		if (!s->whole)
			p->outside_bytes += r->outside_grown_bytes;
	}
	if (s->pages_stolen || (s->scanned && r->outside_changed)) {
		p->outside_seen = true;
		p->outside |= !s->whole; /* else the sums were read again and hold */
	}
	if (!p->outside && (s->whole || (s->checked && !s->doubtful))) {
		p->confirmed = p->kernel_lower;
		p->confirmed_at_ns = p->kernel_at_ns;
	}
	if (s->scanned && r->complete && r->processes) {
		if (r->net_rss_bytes > p->scan) {
			p->scan = r->net_rss_bytes;
			p->scan_at_ns = s->at_ns;
		}
		if (r->rss_bytes > p->scan_gross)
			p->scan_gross = r->rss_bytes;
	}
}

static void add(int64_t *sum, int64_t bytes)
{
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = INT64_MAX;
}

void peak_on_process(struct peak *p, const struct exit_record *r)
{
	const struct rss_split *s = &r->split;
	/* What it had before it was attached to is not the tree's now. */
	int64_t peak = r->peak_source == PEAK_LIFETIME ? r->peak_since_bytes : r->peak_rss_bytes;
	int64_t sure;

	if (peak < 0)
		return;
	if (peak > p->process)
		p->process = peak;
	/* A reading was there; only the kernel's mark may be above the truth. */
	sure = !(r->notes & NOTE_HIWATER) ? peak
	       : r->peak_error_bytes >= 0 ? peak - r->peak_error_bytes
					  : UNKNOWN;
	if (sure > p->process_lower) {
		p->process_lower = sure;
		p->process_at_ns = r->peak_rss_exact && !r->running ? r->ended_ns : UNKNOWN;
		p->process_source = r->peak_source == PEAK_LIFETIME ? PEAK_TRACKED : r->peak_source;
	}
	add(&p->rows_sum, peak);
	if (r->running)
		add(&p->running_sum, peak);
	if (s->anon_bytes >= 0)
		take_split(p, s, s->anon_bytes + s->file_bytes + s->shmem_bytes);
}

static void raise_lower(struct peak *p, int64_t bytes, int64_t at_ns, enum peak_source source)
{
	if (bytes <= p->lower)
		return;
	p->lower = bytes;
	p->lower_at_ns = at_ns;
	p->source = source;
}

static void raise_upper(struct peak *p, int64_t bytes)
{
	if (bytes > p->upper)
		p->upper = bytes;
}

void peak_finish(struct peak *p, bool void_upper)
{
	p->lower = p->lower_at_ns = p->upper = UNKNOWN;
	p->source = PEAK_NONE;
	p->sum = p->ended_sum;
	add(&p->sum, p->running_sum);
	if (p->rows_sum > p->sum)
		p->sum = p->rows_sum;
	if (!p->sum)
		p->sum = UNKNOWN;
	if (p->outside)
		raise_lower(p, p->confirmed, p->confirmed_at_ns, PEAK_TRACKED);
	else if (p->kernel_lower > 0) /* 0: there never was an address space */
		raise_lower(p, p->kernel_lower, p->kernel_at_ns, PEAK_TRACKED);
	raise_lower(p, p->scan, p->scan_at_ns, PEAK_SCAN);
	raise_lower(p, p->process_lower, p->process_at_ns, p->process_source);

	if (p->kernel_upper > 0) {
		raise_upper(p, p->kernel_upper + p->outside_bytes);
		raise_upper(p, p->scan_gross);
		if (void_upper)
			raise_upper(p, p->sum);
		raise_upper(p, p->lower);
		/* One that runs on has been read after the sums; its mark may be above the truth,
		 * too. */
		raise_upper(p, p->process);
	}
}
