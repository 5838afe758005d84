// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tell_ptrace - what the tracer sees: each birth, exec and end as it happens, in that order; rows
 * by the real source_ptrace_reading, the upper bound by the model's overlap
 *
 * Images before an exec are known by ru_maxrss, which others can have raised.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/source_ptrace_reading.h"
#include "model/overlap.h"
#include "tell.h"

#define RECORDS (4 * STEPS_MAX)

enum kind { FORK, EXEC, EXIT };

struct record {
	enum kind kind;
	bool lost;
	union {
		struct fork_record fork;
		struct exec_record exec;
		struct exit_record exit;
	} of;
	char argv[64];
};

struct followed {
	bool alive;
	struct member m;
	int64_t maxrss; /* the kernel's, bytes: of images before, and of what it waited for */
};

static struct {
	struct followed all[PROCESSES];
	struct space_seen {
		uint64_t birth;
		int64_t most_bytes;
		int users;
	} spaces[2 * PROCESSES + STEPS_MAX];
	struct record records[RECORDS];
	size_t n;
	struct overlap overlap;
	struct reader reader;
	struct totals totals;
	int64_t ended_cpu_ns;
	uint64_t unbounded;
} * p;

static struct record *put(enum kind kind, const struct world *w, uint64_t luck)
{
	struct record *r = &p->records[p->n++];

	memset(r, 0, offsetof(struct record, argv));
	r->kind = kind;
	r->lost = finds_none(w, luck);
	return r;
}

static void space_begin(int space)
{
	p->spaces[space] = (struct space_seen){ overlap_begin(&p->overlap), UNKNOWN, 1 };
	if (!p->spaces[space].birth)
		abort();
}

static void space_most(int space, int64_t bytes)
{
	p->spaces[space].most_bytes = larger(p->spaces[space].most_bytes, bytes);
}

static void space_leave(int space)
{
	struct space_seen *s = &p->spaces[space];

	if (--s->users)
		return;
	p->unbounded += s->most_bytes < 0;
	overlap_end(&p->overlap, s->birth, larger(s->most_bytes, 0));
	p->totals.upper_max_bytes = overlap_largest(&p->overlap);
}

static int64_t slack(const struct member *m)
{
	return reading_slack(&p->reader, m);
}

static void put_image(const struct world *w, int i, bool no_exec, uint64_t luck)
{
	struct record *r = put(EXEC, w, luck);

	r->of.exec = (struct exec_record){ .key = key_of_being(&w->truth, i),
					   .at_ns = w->truth.now_ns,
					   .argv_known = true,
					   .no_exec = no_exec };
	r->of.exec.argv_len = argv_of(&w->truth, i, r->argv, sizeof(r->argv));
	comm_of(&w->truth.all[i], r->of.exec.comm);
}

static struct followed *add(const struct world *w, int i)
{
	const struct being *b = &w->truth.all[i];
	struct followed *f = &p->all[i];

	memset(f, 0, sizeof(*f));
	f->alive = true;
	f->m.tgid = pid_of(i);
	f->m.key = key_of_being(&w->truth, i);
	f->m.creator = b->creator < 0 ? 1 : pid_of(b->creator);
	f->m.born_ns = b->born_ns;
	f->m.threads = f->m.alive = (size_t)b->threads;
	f->m.threads_ever = b->threads_ever;
	f->m.images_bytes = f->m.images_most_bytes = UNKNOWN;
	f->m.taken_in = b->taken_in;
	f->m.shares = b->shared;
	f->m.held = b->held;
	f->m.inherited_bytes = b->taken_in ? UNKNOWN : 0;
	if (b->taken_in || b->held)
		p->totals.initial++;
	else
		p->totals.forks++;
	p->totals.processes++;
	p->totals.processes_max = larger(p->totals.processes_max, p->totals.processes);
	p->totals.threads += b->threads;
	p->totals.threads_max = larger(p->totals.threads_max, p->totals.threads);
	return f;
}

static void put_fork(const struct world *w, int i, uint64_t luck)
{
	const struct member *m = &p->all[i].m;

	put(FORK, w, luck)->of.fork =
		(struct fork_record){ .key = m->key,
				      .pid = m->tgid,
				      .ppid = m->creator,
				      .at_ns = m->born_ns,
				      .inherited_rss_bytes = larger(m->inherited_bytes, 0),
				      .shared_mm = m->shares,
				      .taken_in = m->taken_in };
	if (m->taken_in)
		put_image(w, i, true, luck + 1);
}

static void ptrace_begin(struct world *w)
{
	if (!p)
		p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	p->n = 0;
	p->totals = (struct totals){ 0 };
	p->ended_cpu_ns = 0;
	p->unbounded = 0;
	overlap_free(&p->overlap);
	p->reader = (struct reader){ .tick_ns = 4000000,
				     .page_bytes = PAGE_BYTES,
				     .slack_bytes = w->h->noise * PAGE_BYTES,
				     .status_exact = true };
	for (int i = 0; i < w->truth.n; i++) {
		const struct being *b = &w->truth.all[i];
		struct followed *f;

		p->all[i].alive = false;
		if (!b->alive)
			continue;
		f = add(w, i);
		f->m.before.mark_bytes = b->mark_before * PAGE_BYTES;
		f->m.before.cpu_ns = b->cpu_before_ns;
		f->m.before.io = io_unknown;
		f->maxrss = larger(b->mark_before, b->life) * PAGE_BYTES;
		if (b->shared && b->space >= 0)
			p->spaces[b->space].users++;
		else if (b->space >= 0)
			space_begin(b->space);
		put_fork(w, i, 3);
	}
}

static void read_last(const struct world *w, struct followed *f, const struct being *b)
{
	int64_t rss = rss_of(&w->truth, b) * PAGE_BYTES;
	int64_t mark = larger(mark_of(&w->truth, b) * PAGE_BYTES, rss);

	f->m.seen = true;
	f->m.last = (struct reading){ .rss_bytes = rss,
				      .mark_bytes = mark,
				      .vm_peak_bytes = mark,
				      .split = { rss, 0, 0, 0, 0 } };
}

static void bound_space(const struct followed *f, int space)
{
	const struct reading *last = &f->m.last;

	if (space >= 0)
		space_most(space, last->mark_bytes > last->rss_bytes
					  ? last->mark_bytes + slack(&f->m)
					  : last->rss_bytes);
}

/* As source_ptrace_records: close_image. */
static void close_image(struct followed *f, int space, int64_t maxrss)
{
	struct member *m = &f->m;
	int64_t least = UNKNOWN, most = maxrss;
	int64_t others = larger(m->maxrss_bytes, m->children_maxrss_bytes);
	int64_t shared = m->execs ? 0 : larger(m->inherited_bytes, 0);

	if (maxrss > others && !(m->taken_in && !m->execs))
		least = maxrss;
	if (m->held) {
		most = 0;
	} else if (!m->shares && !m->taken_in) {
		least = least < 0 ? UNKNOWN : larger(least - shared, 0);
		m->images_bytes = larger(m->images_bytes, least);
		m->images_most_bytes = larger(m->images_most_bytes, larger(most - shared, 0));
	} else if (!m->shares) {
		m->images_bytes = larger(m->images_bytes, larger(least, m->before.mark_bytes));
		m->images_most_bytes = larger(m->images_most_bytes, most);
	}
	if (!m->shares || (space >= 0 && p->spaces[space].users == 1))
		space_most(space, most ? most + slack(m) : 0);
	m->maxrss_bytes = larger(m->maxrss_bytes, maxrss);
}

static int64_t kernels_mark(const struct world *w, const struct being *b)
{
	return larger(mark_of(&w->truth, b), rss_of(&w->truth, b)) * PAGE_BYTES;
}

static int64_t sure_peak(const struct exit_record *r)
{
	if (r->peak_source == PEAK_LIFETIME)
		return r->peak_since_bytes;
	if (!(r->notes & NOTE_HIWATER))
		return r->peak_rss_bytes;
	return r->peak_error_bytes < 0 ? UNKNOWN : r->peak_rss_bytes - r->peak_error_bytes;
}

static void put_exit(struct world *w, int i, const struct step *s)
{
	const struct being *b = &w->truth.all[i];
	struct followed *f = &p->all[i];
	struct record *r = put(EXIT, w, s->luck + 5);
	struct rusage ru = { .ru_minflt = b->counters[COUNTER_MINFLT],
			     .ru_majflt = b->counters[COUNTER_MINFLT + 1],
			     .ru_nvcsw = b->counters[COUNTER_MINFLT + 2],
			     .ru_nivcsw = b->counters[COUNTER_MINFLT + 3] };

	reading_record(&p->reader, &f->m, &ru, &r->of.exit);
	r->of.exit.ended_ns = w->truth.now_ns;
	r->of.exit.wait_status = b->wait_status;
	r->of.exit.oom_killed = 0;
	r->of.exit.cpu_ns = b->cpu_ns;
	comm_of(b, r->of.exit.comm);
	cpu_split(b->cpu_ns, b->counters[COUNTER_UTIME], b->counters[COUNTER_STIME],
		  &r->of.exit.cpu_user_ns, &r->of.exit.cpu_system_ns);
	p->totals.exits++;
	p->totals.processes--;
	p->totals.minor_faults += r->of.exit.minor_faults > 0 ? r->of.exit.minor_faults : 0;
	p->totals.largest_peak_bytes = larger(p->totals.largest_peak_bytes, sure_peak(&r->of.exit));
	p->totals.sum_peak_bytes += larger(r->of.exit.peak_rss_bytes, 0);
	if (r->lost)
		p->totals.lost_exits++, w->lost_exits++;
	else
		p->totals.records++;
	f->alive = false;
}

static void ptrace_before(struct world *w, const struct step *s)
{
	const struct being *b = &w->truth.all[s->who];
	struct followed *f = &p->all[s->who];
	int space = b->space;

	if (s->what == STEP_EXEC) {
		close_image(f, space, larger(f->maxrss, kernels_mark(w, b)));
		/* What it was becomes part of what the kernel says of the process. */
		f->maxrss = larger(f->maxrss, kernels_mark(w, b));
		if (space >= 0)
			space_leave(space);
		p->totals.threads -= b->threads - 1;
	}
	if (s->what != STEP_EXIT && s->what != STEP_KILL)
		return;
	read_last(w, f, b);
	f->m.seen_last = true;
	bound_space(f, space);
	if (space >= 0)
		space_leave(space);
	if (b->creator >= 0 && p->all[b->creator].alive && w->truth.all[b->creator].alive) {
		struct followed *parent = &p->all[b->creator];
		int64_t maxrss = larger(f->maxrss, kernels_mark(w, b));

		parent->m.children_maxrss_bytes = larger(parent->m.children_maxrss_bytes, maxrss);
		parent->maxrss = larger(parent->maxrss, maxrss);
	}
	p->totals.threads -= b->threads;
}

static void born(const struct world *w, int i, const struct step *s)
{
	const struct being *b = &w->truth.all[i];
	struct followed *f = add(w, i);

	if (b->shared) {
		p->spaces[b->space].users++;
	} else {
		space_begin(b->space);
		f->m.inherited_bytes = rss_of(&w->truth, b) * PAGE_BYTES;
	}
	p->all[s->who].m.has_children = true;
	put_fork(w, i, s->luck + 7);
}

static void ptrace_after(struct world *w, const struct step *s)
{
	struct followed *f = &p->all[s->who];

	switch (s->what) {
	case STEP_FORK:
	case STEP_VFORK:
		born(w, w->truth.n - 1, s);
		break;
	case STEP_EXEC:
		space_begin(w->truth.all[s->who].space);
		if (f->m.shares)
			f->m.before.mark_bytes = 0;
		f->m.held = f->m.shares = f->m.seen = f->m.seen_last = false;
		f->m.inherited_bytes = 0;
		f->m.execs++;
		f->m.threads = f->m.alive = 1;
		put_image(w, s->who, false, s->luck + 9);
		break;
	case STEP_THREAD:
		f->m.threads_ever++;
		p->totals.threads++;
		p->totals.threads_max = larger(p->totals.threads_max, p->totals.threads);
		break;
	case STEP_THREAD_END:
		p->totals.threads--;
		break;
	case STEP_EXIT:
	case STEP_KILL:
		put_exit(w, s->who, s);
		break;
	default:
		break;
	}
}

static void hand_on(struct world *w, struct record *r)
{
	r->of.exec.argv = r->kind == EXEC ? r->argv : r->of.exec.argv;
	if (r->kind == FORK && r->lost)
		w->lost_forks++;
	else if (r->kind == EXEC && r->lost)
		w->lost_execs++;
	if (r->lost || w->err)
		return;
	if (r->kind == FORK)
		w->err = w->sink.on_fork(w->sink.ctx, &r->of.fork);
	else if (r->kind == EXEC)
		w->err = w->sink.on_exec(w->sink.ctx, &r->of.exec);
	else
		w->err = w->sink.on_exit(w->sink.ctx, &r->of.exit);
}

static void ptrace_drain(struct world *w)
{
	for (size_t i = 0; i < p->n; i++)
		hand_on(w, &p->records[i]);
	p->n = 0;
}

static void totals_of(const struct world *w, struct totals *ret)
{
	*ret = p->totals;
	ret->cpu_ns = w->truth.cpu_ns;
	ret->baseline_cpu_ns = UNKNOWN;
	if (w->h->attach) {
		ret->baseline_cpu_ns = 0;
		for (int i = 0; i < w->truth.n; i++)
			ret->baseline_cpu_ns += w->truth.all[i].cpu_before_ns;
	}
	ret->voluntary_switches = ret->involuntary_switches = UNKNOWN;
	ret->major_faults = UNKNOWN;
	ret->io = io_unknown;
	ret->lower_bytes = ret->upper_bytes = UNKNOWN;
	ret->lower_max_bytes = ret->lower_max_at_ns = UNKNOWN;
	ret->interval_max_bytes = UNKNOWN;
	if (p->unbounded || !ret->upper_max_bytes)
		ret->upper_max_bytes = UNKNOWN;
}

static void ptrace_sample(struct world *w, struct tree_sample *ret)
{
	struct scan_result *r = &ret->scan;

	totals_of(w, &ret->totals);
	ret->totals.upper_max_bytes = UNKNOWN;
	ret->whole = ret->scanned = true;
	*r = (struct scan_result){ .complete = true,
				   .processes = w->truth.alive,
				   .threads = w->truth.threads,
				   .split = { .anon_bytes = UNKNOWN } };
	for (int i = 0; i < w->truth.n_spaces; i++) {
		const struct area *s = &w->truth.spaces[i];

		if (!s->users)
			continue;
		r->rss_bytes += s->rss * PAGE_BYTES;
		r->net_rss_bytes += larger(s->rss - s->inherited, 0) * PAGE_BYTES;
	}
}

static void ptrace_finish(struct world *w, bool root_ended, int64_t now_ns, struct totals *ret)
{
	(void)root_ended;
	(void)now_ns;
	ptrace_drain(w);
	for (int i = 0; i < w->truth.n; i++) {
		struct followed *f = &p->all[i];
		const struct being *b = &w->truth.all[i];
		struct exit_record r;

		if (!f->alive)
			continue;
		if (!b->held)
			read_last(w, f, b);
		bound_space(f, b->space);
		if (b->space >= 0)
			space_leave(b->space);
		reading_record(&p->reader, &f->m, NULL, &r);
		if (!w->err)
			w->err = w->sink.on_exit(w->sink.ctx, &r);
	}
	totals_of(w, ret);
}

static size_t ptrace_losses(struct world *w, struct loss *out)
{
	if (w->lost_forks + w->lost_execs == 0)
		return 0;
	out[0] = (struct loss){ "records", (uint64_t)(w->lost_forks + w->lost_execs), false };
	return 1;
}

const struct tell tell_ptrace = {
	.begin = ptrace_begin,
	.before = ptrace_before,
	.after = ptrace_after,
	.drain = ptrace_drain,
	.sample = ptrace_sample,
	.finish = ptrace_finish,
	.losses = ptrace_losses,
};
