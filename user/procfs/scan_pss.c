// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan_pss - the proportional share of memory of the living
 */
#include <errno.h>
#include <unistd.h>

#include "procfs/scan_table.h"
#include "units.h"

struct look {
	int64_t start_ns, now_ns, limit_ns;
	bool slow_read; /* one that takes long, which is not read again */
	struct pss_pass pass;
};

static bool gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

/* 0 and the reading, which is 0 of one that is gone; or -errno. */
static int read_one(struct look *l, const struct watched *w, struct proc_rollup *ret)
{
	struct proc_rollup r = { 0 };
	int64_t before = l->now_ns;
	int err = before - l->start_ns > l->limit_ns ? -ETIME : scan_rollup(w->pid, &r);

	l->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (l->now_ns - before > l->pass.longest_ns)
		l->pass.longest_ns = l->now_ns - before;
	if (!err && r.pss_bytes < 0)
		err = -ENODATA;
	if (err && !gone(err))
		return err;
	if (err)
		r.rss_bytes = r.pss_bytes = 0;
	*ret = r;
	return 0;
}

/*
 * What it took since the look began may be shared with one that was read before, is not read again,
 * and has it in full.
 */
static int64_t less_grown(const struct watched *w, const struct proc_rollup *r)
{
	int64_t grown = r->rss_bytes - w->pss_rss_pages * sysconf(_SC_PAGESIZE);

	if (grown <= 0)
		return r->pss_bytes;
	return grown < r->pss_bytes ? r->pss_bytes - grown : 0;
}

/* Those that take long, or those that do not. */
static void first_reading(struct scan *s, struct look *l, bool slow)
{
	struct watched *w = s->round;

	for (size_t i = 0; i < s->n && !l->pass.err; i++, w = w->next) {
		int64_t before = l->now_ns;
		struct proc_rollup r;

		if (w->shared_mm || w->pss_slow != slow || w->pss >= 0)
			continue;
		l->pass.err = read_one(l, w, &r);
		if (l->pass.err)
			return;
		w->pss_slow = l->now_ns - before > SCAN_PSS_SLOW_NS;
		l->slow_read |= w->pss_slow;
		w->pss = l->slow_read && s->n > 1 ? less_grown(w, &r) : r.pss_bytes;
	}
}

/* The smaller of two; a failure now voids the look as one before would have. */
static void second_reading(struct scan *s, struct look *l)
{
	struct watched *w = s->round;

	for (size_t i = 0; i < s->n && !l->pass.err; i++, w = w->next) {
		struct proc_rollup again;

		if (w->shared_mm || w->pss_slow)
			continue;
		l->pass.err = read_one(l, w, &again);
		if (!l->pass.err && again.pss_bytes < w->pss)
			w->pss = again.pss_bytes;
	}
}

static void sum_up(const struct scan *s, struct pss_pass *p)
{
	const struct watched *w = s->round;

	p->bytes = 0;
	for (size_t i = 0; i < s->n; i++, w = w->next)
		if (w->pss > 0)
			p->bytes += w->pss;
}

void scan_pss(struct scan *s, int64_t limit_ns, int64_t confirm_bytes, struct pss_pass *ret)
{
	struct look l = { .limit_ns = limit_ns };
	struct watched *w = s->round;

	for (size_t i = 0; i < s->n; i++, w = w->next) {
		struct proc_statm m = { 0 };

		if (s->n > 1)
			scan_statm(w->pid, &m);
		w->pss = UNKNOWN;
		w->pss_rss_pages = (int64_t)m.resident_pages;
	}
	l.start_ns = l.now_ns = clock_ns(CLOCK_MONOTONIC);
	first_reading(s, &l, false);
	first_reading(s, &l, true);
	sum_up(s, &l.pass);
	if (!l.pass.err && s->n > 1 && l.pass.bytes > confirm_bytes) {
		second_reading(s, &l);
		sum_up(s, &l.pass);
	}
	l.pass.whole = !l.pass.err;
	l.pass.duration_ns = l.now_ns - l.start_ns;
	*ret = l.pass;
}
