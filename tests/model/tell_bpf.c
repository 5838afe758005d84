// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tell_bpf - what the programs in the kernel do at the hooks, in plain C and with the same order of
 * things; their events go through the real source_bpf_records and source_bpf_living
 *
 * A reading sees what an address space has at that moment, as the kernel's mark is behind it.  An
 * exit's record comes when its last thread is off the CPU, which may be long after that of others
 * who ended later; a birth's sometimes after the child's exec.
 */
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/source_bpf.h"
#include "tell.h"

#define SPACES  (2 * PROCESSES + STEPS_MAX)
#define EVENTS  (4 * STEPS_MAX)
#define LATE_NS 900000000ll /* run_stretches: LATE_NS is 2 s */

struct event {
	int64_t due_ns;
	size_t size;
	int sends; /* the process whose record it is; -1 not one of its end */
	bool lost;
	union {
		struct fork_event fork;
		struct exec_event exec;
		struct exit_event exit;
		char room[sizeof(struct exec_event) + 64];
	} of;
};

static struct {
	struct exitmeter_bpf skel;
	struct exitmeter_bpf__bss bss;
	struct exitmeter_bpf__rodata rodata;
	struct source_bpf src;
	struct process all[PROCESSES];
	bool known[PROCESSES];
	int64_t fork_due_ns[PROCESSES];
	struct mm_entry mms[SPACES];
	struct event events[EVENTS];
	size_t n_events;
	int64_t now_ns;
} * k;

/* --- what the real source calls ------------------------------------------------------------- */

enum { FD_PROCESSES = 1, FD_MMS };

int bpf_map__fd(const struct bpf_map *map)
{
	return map == k->skel.maps.processes ? FD_PROCESSES : FD_MMS;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	uint64_t i = key ? *(const uint64_t *)key / 2 : 0;

	(void)fd;
	for (; i < PROCESSES; i++)
		if (k->known[i]) {
			i = 2 * (i + 1); /* an odd one is of a record that was kept */
			memcpy(next, &i, sizeof(i));
			return 0;
		}
	return -1;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint64_t i = *(const uint64_t *)key;

	if (fd == FD_PROCESSES) {
		memcpy(value, &k->all[i / 2 - 1], sizeof(k->all[0]));
		return 0;
	}
	if (!i || k->mms[i - 1].dead || !k->mms[i - 1].mm)
		return -1;
	memcpy(value, &k->mms[i - 1], sizeof(k->mms[0]));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	if (fd == FD_PROCESSES)
		k->known[*(const uint64_t *)key / 2 - 1] = false;
	return 0;
}

void source_bpf_wake(struct source_bpf *s)
{
	(void)s;
}

int source_bpf_count(struct source_bpf *s, const struct count_event *e)
{
	(void)s;
	(void)e;
	return 0;
}

bool source_bpf_same(const struct source_bpf *s, uint64_t start_ns, const struct proc_stat *stat)
{
	int i = stat->pid - PID_BASE;

	(void)s;
	return key_of_being(&world->truth, i).start_ns == start_ns;
}

/* --- memory.bpf.h --------------------------------------------------------------------------- */

static uint64_t sooner_or_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void maximum(__u64 *max, uint64_t v)
{
	if (v > *max)
		*max = v;
}

static uint64_t slack(void)
{
	return k->rodata.hiwater_slack_pages;
}

static void move(int64_t lower, int64_t upper)
{
	struct run_totals *r = &k->bss.tree;

	r->lower_pages += (uint64_t)lower;
	r->upper_pages += (uint64_t)upper;
	maximum(&r->upper_max_pages, r->upper_pages);
}

static void set_aside(struct mm_entry *e)
{
	if (e->epoch == k->bss.tree.epoch)
		return;
	e->at_peak = e->net;
	e->epoch = k->bss.tree.epoch;
}

static void entry_move(struct mm_entry *e, uint64_t net, uint64_t high)
{
	int64_t lower = (int64_t)(net - e->net), upper = (int64_t)(high - e->high);

	if (lower)
		set_aside(e);
	e->net = net;
	e->high = high;
	move(lower, upper);
}

static void look(const struct world *w, int space)
{
	struct mm_entry *e = &k->mms[space];
	const struct area *s = &w->truth.spaces[space];
	uint64_t rss = (uint64_t)s->rss, hiwater = (uint64_t)s->mark, high = e->high;

	if (!e->mm || e->dead)
		return;
	e->rss = rss;
	maximum(&e->known, rss);
	if (hiwater <= e->mark_before)
		hiwater = 0;
	maximum(&e->hiwater, hiwater);
	if (rss > high)
		high = rss;
	if ((e->hiwater > e->known || rss < e->known) && e->hiwater + slack() > high)
		high = e->hiwater + slack();
	entry_move(e, sooner_or_zero(rss, e->inherited), high);
}

static void settle(const struct world *w)
{
	struct run_totals *r = &k->bss.tree;

	for (int i = 0; i < w->truth.n_spaces; i++)
		look(w, i);
	maximum(&r->interval_max_pages, r->lower_pages);
	if (r->lower_pages <= r->lower_max_pages)
		return;
	r->lower_max_pages = r->lower_pages;
	r->lower_max_at_ns = (uint64_t)k->now_ns;
	r->epoch++;
}

static void enter(const struct world *w, int space, uint64_t inherited, bool was_there)
{
	struct mm_entry *e = &k->mms[space];
	uint64_t rss = (uint64_t)w->truth.spaces[space].rss;
	uint64_t mark = (uint64_t)w->truth.spaces[space].mark;

	*e = (struct mm_entry){ .mm = (uint64_t)space + 1,
				.rss = rss,
				.known = rss,
				.high = rss,
				.net = sooner_or_zero(rss, inherited),
				.inherited = inherited,
				.epoch = k->bss.tree.epoch,
				.users = 1 };
	if (was_there) {
		e->mark_before = mark;
		if (mark > rss)
			e->high = mark + slack();
	}
	move((int64_t)e->net, (int64_t)e->high);
}

static void leave(const struct world *w, struct process *p, bool closing)
{
	struct mm_entry *e = p->mm ? &k->mms[p->mm - 1] : NULL;
	uint64_t high;

	if (!e || e->dead || --e->users)
		return;
	settle(w);
	high = e->high;
	entry_move(e, 0, closing ? high : 0);
	set_aside(e);
	e->dead = 1;
	if (closing)
		p->closing_pages = high;
	p->event.at_peak_pages = e->at_peak;
	p->event.at_peak_epoch = e->epoch;
}

/* --- image.bpf.h, end.bpf.h ----------------------------------------------------------------- */

static uint64_t mark_since(const struct mm_entry *e, const struct area *s)
{
	return (uint64_t)s->mark <= e->mark_before ? 0 : (uint64_t)s->mark;
}

static void image_note(const struct world *w, struct process *p)
{
	const struct area *s;
	struct mm_entry *e;

	if (!p->mm || p->event.flags & EVENT_SHARED_MM)
		return;
	e = &k->mms[p->mm - 1];
	s = &w->truth.spaces[p->mm - 1];
	look(w, (int)p->mm - 1);
	p->image_last_pages = (uint64_t)s->rss;
	p->image_error_pages = slack();
	maximum(&p->image_exact_pages, e->known);
	maximum(&p->image_hiwater_pages, mark_since(e, s));
}

static void closing_end(const struct world *w, struct process *p)
{
	uint64_t held = p->closing_pages, peak = p->image_exact_pages;

	if (!held)
		return;
	if (p->image_hiwater_pages > peak)
		peak = p->image_hiwater_pages;
	if (peak > held)
		move(0, (int64_t)(peak - held));
	else
		peak = held;
	settle(w);
	move(0, -(int64_t)peak);
	p->closing_pages = 0;
}

static void image_count(struct process *p)
{
	uint64_t exact = p->image_exact_pages, hiwater = p->image_hiwater_pages;
	uint64_t peak = hiwater > exact ? hiwater : exact, high, error = 0;
	uint32_t flag = 0;

	if (hiwater > exact) {
		flag = EVENT_IMAGES_HIWATER;
		error = p->image_error_pages;
	} else if (p->image_last_pages < exact) {
		flag = EVENT_IMAGES_FELL;
		error = sooner_or_zero(hiwater + p->image_error_pages, exact);
	}
	peak = sooner_or_zero(peak, p->event.inherited_pages);
	if (p->event.flags & EVENT_SHARED_MM)
		return;
	high = p->event.images_peak_pages + p->event.images_error_pages;
	if (peak + error > high)
		high = peak + error;
	if (peak > p->event.images_peak_pages) {
		p->event.images_peak_pages = peak;
		p->event.flags &= ~(uint32_t)(EVENT_IMAGES_HIWATER | EVENT_IMAGES_FELL);
		p->event.flags |= flag;
	}
	p->event.images_error_pages = (uint32_t)(high - p->event.images_peak_pages);
}

static void exit_memory(const struct world *w, struct process *p)
{
	struct exit_event *ev = &p->event;
	const struct area *s = &w->truth.spaces[p->mm - 1];
	struct mm_entry *e = &k->mms[p->mm - 1];
	uint64_t exact = (uint64_t)s->rss, hiwater;

	look(w, (int)p->mm - 1);
	hiwater = mark_since(e, s);
	ev->anon_pages = exact;
	ev->peak_pages = exact;
	if (e->known > exact) {
		ev->peak_pages = e->known;
		ev->flags |= EVENT_FELL;
		ev->error_pages = (uint32_t)sooner_or_zero(hiwater + slack(), e->known);
	}
	if (hiwater > ev->peak_pages) {
		ev->peak_pages = hiwater;
		ev->flags = (ev->flags & ~(uint32_t)EVENT_FELL) | EVENT_HIWATER;
		ev->error_pages = (uint32_t)slack();
	}
	ev->flags |= EVENT_MEMORY;
}

/* --- records -------------------------------------------------------------------------------- */

static struct event *put(int64_t due_ns, size_t size, int sends)
{
	struct event *e = &k->events[k->n_events++];

	*e = (struct event){ .due_ns = due_ns, .size = size, .sends = sends };
	return e;
}

static void put_fork(const struct world *w, int i, uint64_t luck)
{
	const struct exit_event *ev = &k->all[i].event;
	int64_t due_ns = k->now_ns + (luck % 8 ? 0 : (int64_t)(luck >> 8) % 90000000);
	struct event *e = put(due_ns, sizeof(e->of.fork), -1);

	k->fork_due_ns[i] = due_ns;
	e->of.fork = (struct fork_event){ .type = EVENT_FORK,
					  .start_ns = ev->start_ns,
					  .at_ns = ev->born_ns,
					  .inherited_pages = ev->inherited_pages,
					  .tgid = ev->tgid,
					  .pid = ev->pid,
					  .ppid = ev->ppid,
					  .flags = ev->flags };
	e->lost = finds_none(w, luck + 1);
}

static void put_exec(const struct world *w, int i, uint64_t luck)
{
	const struct process *p = &k->all[i];
	struct event *e = put(k->now_ns, sizeof(e->of.exec), -1);
	struct exec_event *x = &e->of.exec;

	x->type = EVENT_EXEC;
	x->start_ns = p->event.start_ns;
	x->at_ns = (uint64_t)k->now_ns;
	x->at_peak_pages = p->closed_at_peak_pages;
	x->at_peak_epoch = p->closed_at_peak_epoch;
	x->tgid = p->event.tgid;
	x->pid = p->event.pid;
	comm_of(&w->truth.all[i], x->comm);
	x->argv_len = (uint32_t)argv_of(&w->truth, i, e->of.room + sizeof(*x),
					sizeof(e->of) - sizeof(*x));
	e->size += x->argv_len;
	e->lost = finds_none(w, luck + 2);
}

/* Between the exit hook and the last switch others may do much. */
static void put_exit(const struct world *w, int i, uint64_t luck)
{
	int64_t late_ns = luck % 4 ? 0 : (int64_t)(luck >> 8) % LATE_NS;
	struct event *e =
		put(larger(k->now_ns + late_ns, k->fork_due_ns[i]), sizeof(e->of.exit), i);

	e->lost = finds_none(w, luck + 3);
}

static void count_used(const struct world *w, int i, struct exit_event *ev)
{
	const struct being *b = &w->truth.all[i];
	__u64 *to = &ev->utime_ns;

	ev->cpu_ns = (uint64_t)b->cpu_ns;
	for (int c = 0; c < COUNTERS; c++)
		to[c] = (uint64_t)b->counters[c];
}

static void finish_one(struct world *w, struct event *e)
{
	struct run_totals *r = &k->bss.tree;
	struct process *p = &k->all[e->sends];
	struct exit_event *ev = &p->event;
	uint64_t peak =
		ev->images_peak_pages > ev->peak_pages ? ev->images_peak_pages : ev->peak_pages;
	__u64 *to = &r->utime_ns, *from = &ev->utime_ns;

	count_used(w, e->sends, ev);
	r->cpu_ns += ev->cpu_ns;
	for (int c = 0; c < COUNTERS; c++)
		to[c] += from[c];
	r->sum_peak_pages += peak;
	maximum(&r->largest_peak_pages, peak);
	e->of.exit = *ev;
	if (e->lost) {
		k->bss.drops.exit_events++;
		r->lost_exits++;
		w->lost_exits++;
	}
	r->records++;
	k->known[e->sends] = false;
}

static void hand_on(struct world *w, struct event *e)
{
	if (e->sends >= 0)
		finish_one(w, e);
	else if (e->lost && e->of.fork.type == EVENT_FORK && e->size == sizeof(e->of.fork))
		k->bss.drops.fork_events++, w->lost_forks++;
	else if (e->lost)
		k->bss.drops.exec_events++, w->lost_execs++;
	if (!e->lost && !w->err)
		w->err = source_bpf_on_record(&k->src, &e->of, e->size);
}

/* All that is due by then, the earliest first; of the same moment in the order of what happened. */
static void send_until(struct world *w, int64_t now_ns)
{
	for (;;) {
		size_t first = k->n_events;

		for (size_t i = 0; i < k->n_events; i++)
			if (k->events[i].due_ns <= now_ns &&
			    (first == k->n_events || k->events[i].due_ns < k->events[first].due_ns))
				first = i;
		if (first == k->n_events)
			return;
		hand_on(w, &k->events[first]);
		memmove(&k->events[first], &k->events[first + 1],
			(--k->n_events - first) * sizeof(k->events[0]));
	}
}

/* --- hooks ---------------------------------------------------------------------------------- */

static void count_processes(int64_t n)
{
	struct run_totals *r = &k->bss.tree;

	r->processes += (uint64_t)n;
	maximum(&r->processes_max, r->processes);
}

static void count_threads(int64_t n)
{
	struct run_totals *r = &k->bss.tree;

	r->threads += (uint64_t)n;
	maximum(&r->threads_max, r->threads);
}

static struct process *add(const struct world *w, int i)
{
	const struct being *b = &w->truth.all[i];
	struct process *p = &k->all[i];
	struct exit_event *ev = &p->event;
	struct process_key key = key_of_being(&w->truth, i);

	*p = (struct process){ .signal = 2 * ((uint64_t)i + 1), .mm = (uint64_t)(b->space + 1) };
	k->known[i] = true;
	ev->type = EVENT_EXIT;
	ev->start_ns = key.start_ns;
	ev->born_ns = (uint64_t)b->born_ns;
	ev->tgid = key.tgid;
	ev->pid = (uint32_t)pid_of(i);
	ev->ppid = b->creator < 0 ? 1 : (uint32_t)pid_of(b->creator);
	ev->threads = 1;
	return p;
}

static void born(const struct world *w, int i, uint64_t luck)
{
	struct process *p = add(w, i);
	struct exit_event *ev = &p->event;
	struct mm_entry *e = &k->mms[p->mm - 1];

	if (e->mm && !e->dead) {
		ev->flags = EVENT_SHARED_MM;
		e->users++;
	} else {
		ev->flags = EVENT_FORKED_IMAGE;
		ev->inherited_pages = (uint64_t)w->truth.spaces[p->mm - 1].rss;
		enter(w, (int)p->mm - 1, ev->inherited_pages, false);
	}
	k->bss.tree.forks++;
	count_processes(1);
	count_threads(1);
	put_fork(w, i, luck);
}

static void take(const struct world *w, int i, uint64_t luck)
{
	const struct being *b = &w->truth.all[i];
	struct process *p = add(w, i);
	struct exit_event *ev = &p->event;
	struct mm_entry *e = &k->mms[p->mm - 1];

	ev->flags = EVENT_TAKEN_IN;
	ev->threads = (uint32_t)b->threads;
	p->gauge = (uint32_t)b->threads - 1;
	ev->mark_before_pages = (uint64_t)b->mark_before;
	p->before_cpu_ns = (uint64_t)b->cpu_before_ns;
	if (e->mm && !e->dead) {
		ev->flags |= EVENT_SHARED_MM;
		ev->mark_before_pages = 0;
		e->users++;
	} else {
		enter(w, (int)p->mm - 1, 0, true);
	}
	k->bss.tree.initial++;
	k->bss.tree.before_cpu_ns += p->before_cpu_ns;
	count_processes(1);
	count_threads(b->threads);
	put_fork(w, i, luck);
}

static void bpf_begin(struct world *w)
{
	struct process *p;

	if (!k)
		k = calloc(1, sizeof(*k));
	if (!k)
		abort();
	/* What is large in it, and never written here, stays. */
	memset(&k->bss.tree, 0, sizeof(k->bss.tree));
	memset(&k->bss.drops, 0, sizeof(k->bss.drops));
	memset(k->known, 0, sizeof(k->known));
	for (int i = 0; i < SPACES; i++)
		k->mms[i].mm = 0;
	k->n_events = 0;
	k->skel.bss = &k->bss;
	k->skel.rodata = &k->rodata;
	k->skel.maps.processes = (struct bpf_map *)&k->all;
	k->skel.maps.mms = (struct bpf_map *)&k->mms;
	k->rodata.hiwater_slack_pages = (uint32_t)w->h->noise;
	memset(&k->src, 0, sizeof(k->src));
	k->src.base.sink = w->sink;
	k->src.skel = &k->skel;
	k->src.page_bytes = PAGE_BYTES;
	k->src.attaching = w->h->attach;
	k->src.root = pid_of(0);
	k->src.n_cpus = 1;
	k->src.counted = true;
	k->now_ns = w->truth.now_ns;
	if (w->h->attach) {
		for (int i = 0; i < w->truth.n; i++)
			if (w->truth.all[i].alive)
				take(w, i, 1);
		return;
	}
	p = add(w, 0);
	p->mm = 0;
	p->event.flags = EVENT_SHARED_MM;
	count_processes(1);
	count_threads(1);
	put_fork(w, 0, 1);
}

static void bpf_before(struct world *w, const struct step *s)
{
	struct process *p = &k->all[s->who];

	k->now_ns = s->at_ns;
	if (s->what == STEP_EXEC) {
		p->event.flags |= EVENT_IN_EXEC;
		image_note(w, p);
		if (p->mm)
			leave(w, p, true);
	}
	if (s->what != STEP_EXIT && s->what != STEP_KILL)
		return;
	if (p->mm && !(p->event.flags & EVENT_SHARED_MM))
		exit_memory(w, p);
	p->event.ended_ns = (uint64_t)s->at_ns;
	p->event.exit_code = (uint32_t)(s->what == STEP_KILL ? s->n : s->n << 8);
	p->event.flags |= EVENT_EXITED;
	comm_of(&w->truth.all[s->who], p->event.comm);
	k->bss.tree.exits++;
	count_processes(-1);
	count_threads(-w->truth.all[s->who].threads);
	leave(w, p, false);
	closing_end(w, p);
}

static void execed(const struct world *w, int i, const struct step *s, int64_t threads)
{
	struct process *p = &k->all[i];

	closing_end(w, p);
	image_count(p);
	p->closed_at_peak_pages = p->event.at_peak_pages;
	p->closed_at_peak_epoch = p->event.at_peak_epoch;
	p->event.at_peak_pages = 0;
	p->image_exact_pages = p->image_hiwater_pages = 0;
	p->mm = (uint64_t)w->truth.all[i].space + 1;
	p->event.flags &= ~(uint32_t)(EVENT_SHARED_MM | EVENT_FORKED_IMAGE | EVENT_IN_EXEC |
				      EVENT_MEMORY | EVENT_HIWATER | EVENT_FELL);
	p->event.peak_pages = p->event.error_pages = 0;
	p->event.inherited_pages = 0;
	p->event.execs++;
	enter(w, (int)p->mm - 1, 0, false);
	count_threads(1 - threads);
	put_exec(w, i, s->luck);
}

static void bpf_after(struct world *w, const struct step *s)
{
	struct process *p = &k->all[s->who];

	switch (s->what) {
	case STEP_FORK:
	case STEP_VFORK:
		born(w, w->truth.n - 1, s->luck);
		break;
	case STEP_EXEC:
		execed(w, s->who, s, (int64_t)p->gauge + 1);
		p->gauge = 0;
		break;
	case STEP_THREAD:
		p->event.threads++;
		p->gauge++;
		count_threads(1);
		break;
	case STEP_THREAD_END:
		p->gauge--;
		count_threads(-1);
		break;
	case STEP_EXIT:
	case STEP_KILL:
		put_exit(w, s->who, s->luck);
		break;
	default:
		break;
	}
	/* It goes off its CPU, or a tick comes; or neither before the next step. */
	if (s->luck >> 32 & 1 && w->truth.all[s->who].alive && w->truth.all[s->who].space >= 0) {
		look(w, w->truth.all[s->who].space);
		if (s->luck >> 33 & 1)
			settle(w);
	}
}

static void bpf_drain(struct world *w)
{
	send_until(w, w->truth.now_ns);
}

/* Of kernels before 5.19, which these are not. */
void source_bpf_old_totals(const struct source_bpf *s, struct totals *ret)
{
	(void)s;
	(void)ret;
	abort();
}

static void totals_of(const struct world *w, struct totals *ret)
{
	source_bpf_totals(&k->src, &k->bss.tree, w->truth.cpu_ns, ret);
}

static void take_interval(struct totals *ret)
{
	int64_t most = source_bpf_pages(&k->src, k->bss.tree.interval_max_pages);

	k->bss.tree.interval_max_pages = 0;
	ret->interval_max_bytes = larger(most, ret->lower_bytes);
}

/* A scan finds what is there; now and then it was not done, or not with all of them. */
static void scan(const struct world *w, struct tree_sample *ret)
{
	struct scan_result *r = &ret->scan;

	ret->scanned = true;
	*r = (struct scan_result){ .complete = w->truth.now_ns % 3 != 0,
				   .processes = w->truth.alive,
				   .split = { .anon_bytes = UNKNOWN } };
	for (int i = 0; i < w->truth.n_spaces; i++) {
		const struct area *s = &w->truth.spaces[i];

		if (!s->users)
			continue;
		r->rss_bytes += s->rss * PAGE_BYTES;
		r->net_rss_bytes += larger(s->rss - s->inherited, 0) * PAGE_BYTES;
	}
}

static void bpf_sample(struct world *w, struct tree_sample *ret)
{
	k->now_ns = ret->at_ns;
	settle(w);
	ret->settled = ret->whole = true;
	totals_of(w, &ret->totals);
	take_interval(&ret->totals);
	if (ret->at_ns % 5)
		scan(w, ret);
}

static void bpf_finish(struct world *w, bool root_ended, int64_t now_ns, struct totals *ret)
{
	k->now_ns = now_ns;
	send_until(w, w->h->attach && !root_ended ? now_ns : INT64_MAX);
	settle(w);
	for (int i = 0; i < PROCESSES; i++)
		if (k->known[i])
			count_used(w, i, &k->all[i].event);
	if (!w->err)
		w->err = source_bpf_hand_on_living(&k->src);
	totals_of(w, ret);
	take_interval(ret);
	if (k->bss.tree.processes || k->bss.tree.exits > k->bss.tree.records)
		ret->exits = ret->records;
}

static size_t bpf_losses(struct world *w, struct loss *out)
{
	const struct loss all[] = { { "fork-records", (uint64_t)w->lost_forks, false },
				    { "exec-records", (uint64_t)w->lost_execs, false },
				    { "exit-records", (uint64_t)w->lost_exits, false } };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].count)
			out[n++] = all[i];
	return n;
}

const struct tell tell_bpf = {
	.begin = bpf_begin,
	.before = bpf_before,
	.after = bpf_after,
	.drain = bpf_drain,
	.sample = bpf_sample,
	.finish = bpf_finish,
	.losses = bpf_losses,
};
