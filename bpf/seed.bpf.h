/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seed - taking in a tree that is there already (attach)
 *
 * User space runs the task iterator: once before the hooks are live and once after to remember who
 * made whom, since an orphan's parent link leads elsewhere, then again and again until a whole pass
 * takes in nobody.  Meanwhile the hooks remember every birth on the machine.  The same process may
 * be met by the iterator and by the hooks, in any order: whoever puts it into a map first counts
 * it.
 */
#ifndef SEED_BPF_H
#define SEED_BPF_H

#include "end.bpf.h"

#define GENERATIONS 1024 /* of processes that ended between two passes */

/* Set by user space. */
__u32 seed_mode = 0;
__u32 seeding = 0; /* births of all processes are remembered */
__u32 seed_roots[SEED_ROOTS_MAX] = {};
__u32 seed_roots_n = 0;
/* Answers. */
__u64 seed_added = 0;
struct process seed_fresh = {}; /* what a process starts as: whole before others can find it */
__u64 seed_own = 0;             /* exitmeter's signal_struct: never in the tree */

static __always_inline void birth_note(u64 signal, u64 creator, bool member)
{
	struct birth fresh = { .creator = creator, .member = member }, *b;

	if (!bpf_map_update_elem(&births, &signal, &fresh, BPF_NOEXIST))
		return;
	b = bpf_map_lookup_elem(&births, &signal);
	if (b)
		b->member |= member;
	else
		__sync_fetch_and_add(&drops.births, 1);
}

struct ancestry {
	u64 at;
	bool found;
};

static long generation(u32 i, struct ancestry *a)
{
	struct birth *b = bpf_map_lookup_elem(&births, &a->at);

	a->found = a->at != seed_own && (process_find(a->at) || (b && b->member));
	if (a->found)
		return 1;
	a->at = b ? b->creator : 0;
	return !a->at;
}

static __always_inline void miss(struct birth *b)
{
	if (b->missed)
		return;
	b->missed = 1;
	__sync_fetch_and_add(&drops.missed, 1);
}

static long count_missed(u32 i, struct ancestry *a)
{
	struct birth *b = bpf_map_lookup_elem(&births, &a->at);

	if (!b || b->member || process_find(a->at))
		return 1;
	miss(b);
	a->at = b->creator;
	return 0;
}

/* Whether it, or whoever made it, or made that one, is in the tree or was. */
static __always_inline bool comes_from_tree(u64 signal)
{
	struct ancestry a = { .at = signal };

	if (!signal)
		return false;
	repeat(GENERATIONS, generation, &a);
	if (!a.found) {
		if (a.at) /* too many */
			__sync_fetch_and_add(&drops.births, 1);
		return false;
	}
	a.at = signal;
	repeat(GENERATIONS, count_missed, &a);
	return true;
}

static __always_inline bool is_root(u32 pid)
{
	for (u32 i = 0; i < SEED_ROOTS_MAX; i++)
		if (i < seed_roots_n && seed_roots[i] == pid)
			return true;
	return false;
}

/* Whether the process, not known yet, is a root or comes from the tree. */
static __always_inline bool belongs(struct task_struct *task, u64 signal)
{
	struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent);
	struct ancestry a = { .at = signal_of(parent) };
	struct birth *b;

	if (is_root(pid_in_namespace(task)))
		return true;
	if (a.at != seed_own && process_find(a.at))
		return true;
	b = bpf_map_lookup_elem(&births, &signal);
	return b && comes_from_tree(b->creator);
}

/*
 * At every birth on the machine while a tree is taken in.  True when its creator is not known but
 * comes from the tree: the last pass need not meet whoever is born and gone meanwhile.
 */
static __always_inline bool birth_watch(struct task_struct *task, u64 creator, bool member)
{
	u64 signal = signal_of(task);
	bool orphan = !member && comes_from_tree(creator);

	/* An older process may have had the same address. */
	bpf_map_delete_elem(&births, &signal);
	birth_note(signal, creator, member || orphan);
	return orphan;
}

/* Whose exec or exit came between the reading and the entry left a dead address space behind. */
static __always_inline void mm_check(struct process *p, struct task_struct *task, u64 mm)
{
	if ((u64)BPF_CORE_READ(task, mm) == mm)
		return;
	mm_forget(mm);
	p->event.flags |= EVENT_IMAGE_UNSEEN;
}

/* Its parent is of the tree but not taken in yet, so its run is not known: a later pass. */
static __always_inline bool too_early(struct task_struct *parent)
{
	u64 signal = signal_of(parent);

	return nr_runs > 1 && !process_find(signal) && belongs(parent, signal);
}

/* Takes in the process of @task_addr, a thread of it that lives. */
__noinline int process_take(u64 task_addr)
{
	struct task_struct *task = (void *)task_addr, *parent;
	u64 signal = signal_of(task), mm = (u64)BPF_CORE_READ(task, mm), start, hiwater, rss;
	struct exit_event *ev;
	struct mm_entry *e;
	struct process *p, *creator = NULL;
	struct birth *b;

	/* Past its last use of memory: it is as good as gone. */
	if (!mm)
		return 0;
	parent = BPF_CORE_READ(task, group_leader, real_parent);
	ev = &seed_fresh.event;
	ev->type = EVENT_EXIT;
	ev->flags = EVENT_TAKEN_IN;
	ev->run = 0;
	if (nr_runs > 1 && is_root(pid_in_namespace(task))) {
		ev->flags |= EVENT_SPLITTER;
	} else if (nr_runs > 1) {
		if (too_early(parent))
			return 0;
		creator = process_find(signal_of(parent));
		if (creator)
			ev->run = run_of_child(creator);
		if (creator && creator->event.flags & EVENT_SPLITTER)
			ev->flags |= EVENT_RUN_FIRST;
	}
	if (lent && is_foreign(task))
		ev->flags |= EVENT_FOREIGN;
	start = BPF_CORE_READ(task, group_leader, start_boottime);
	ev->start_ns = start;
	ev->born_ns = bpf_ktime_get_ns() - (bpf_ktime_get_boot_ns() - start);
	ev->tgid = BPF_CORE_READ(task, tgid);
	ev->pid = pid_in_namespace(task);
	ev->ppid = pid_in_namespace(parent);
	seed_fresh.before_cpu_ns = BPF_CORE_READ(task, signal, sum_sched_runtime);
	seed_fresh.maxrss_before = BPF_CORE_READ(task, signal, maxrss);
	seed_fresh.mm = mm;
	seed_fresh.signal = signal;
	rss = rss_pages(mm, RSS_RESIDENT);
	hiwater = BPF_CORE_READ((struct mm_struct *)mm, hiwater_rss);
	ev->mark_before_pages = rss > hiwater ? rss : hiwater;
	if (bpf_map_update_elem(&processes, &signal, &seed_fresh, BPF_NOEXIST)) {
		/* No room, or a hook was first. */
		b = bpf_map_lookup_elem(&births, &signal);
		if (b && !bpf_map_lookup_elem(&processes, &signal))
			miss(b);
		run_give_back(creator, ev->run);
		return 0;
	}
	p = bpf_map_lookup_elem(&processes, &signal);
	if (!p)
		return 0;
	ev = &p->event;
	__sync_fetch_and_add(&membership_number, 2);
	e = bpf_map_lookup_elem(&mms, &mm);
	if (e && e->mm == mm && !e->dead) {
		ev->flags |= EVENT_SHARED_MM;
		ev->mark_before_pages = 0; /* that is the other's */
		__sync_fetch_and_add(&e->users, 1);
	} else if (mm_enter(mm, ev->run, 0, CPU_ANY)) {
		ev->flags |= EVENT_UNTRACKED_MM;
	}
	mm_check(p, task, mm);
	image_look((struct mm_struct *)mm);
	birth_note(signal, signal_of(parent), true);
	run_add(ev->run, FIELD(initial), 1);
	run_add(ev->run, FIELD(before_cpu_ns), p->before_cpu_ns);
	run_count(ev->run, FIELD(processes), 1);
	fork_send(ev);
	__sync_fetch_and_add(&seed_added, 1);
	return 0;
}

/* A thread of the process of @signal, which was taken in; 1 when it was not known. */
__noinline int thread_take(u64 signal, u64 task_addr)
{
	struct thread_before before = { .signal = signal };
	struct task_struct *task = (void *)task_addr;
	struct process *p = process_find(signal);
	u64 key = task_addr;

	if (!attaching || !p)
		return 0;
	before.cpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	counters_read(task, before.counters);
	if (bpf_map_lookup_elem(&threads, &key))
		return 0;
	if (bpf_map_update_elem(&threads, &key, &before, BPF_NOEXIST)) {
		if (!bpf_map_lookup_elem(&threads, &key))
			__sync_fetch_and_add(&drops.threads, 1);
		return 0;
	}
	__sync_fetch_and_add(&p->here, 1);
	__sync_fetch_and_add(&p->event.threads, 1);
	__sync_fetch_and_add(&p->before_cpu_ns, before.cpu_ns);
	run_add(p->event.run, FIELD(before_cpu_ns), before.cpu_ns);
	if (!(BPF_CORE_READ(task, flags) & PF_EXITING)) {
		__sync_fetch_and_add(&p->gauge, 1);
		run_count(p->event.run, FIELD(threads), 1);
	}
	__sync_fetch_and_add(&membership_number, 2);
	return 1;
}

/* It may have gone off its CPU for good before it was in the map. */
__noinline int thread_check(u64 signal, u64 task_addr)
{
	struct task_struct *task = (void *)task_addr;
	struct process *p = process_find(signal);

	if (!p || !(task_state(task) & TASK_DEAD) || bpf_map_delete_elem(&threads, &task_addr))
		return 0;
	if (count_down(&p->here) && !BPF_CORE_READ(task, signal, live.counter) &&
	    finish_once(p, signal)) {
		mm_forget(p->mm);
		process_finish(p, task_addr, false);
	}
	return 0;
}

static __always_inline void seed_take(struct task_struct *task, u64 task_addr, u64 signal)
{
	struct process *p = process_find(signal);

	if (!p) {
		if (!belongs(task, signal))
			return;
		process_take(task_addr);
		p = process_find(signal);
	}
	if (!p || !(p->event.flags & EVENT_TAKEN_IN) || !thread_take(signal, task_addr))
		return;
	__sync_fetch_and_add(&seed_added, 1);
	thread_check(signal, task_addr);
}

static __always_inline int seed(struct task_struct *task, u64 task_addr)
{
	u64 signal = signal_of(task);

	if (BPF_CORE_READ(task, flags) & PF_KTHREAD || !signal || signal == seed_own ||
	    task_state(task) & (TASK_DEAD | TASK_NEW))
		return 0; /* a new one is the hook's, if its creator is known */
	if (seed_mode == SEED_LOOK)
		birth_note(signal, signal_of(BPF_CORE_READ(task, group_leader, real_parent)),
			   false);
	else if (seed_mode == SEED_TAKE)
		seed_take(task, task_addr, signal);
	else
		thread_add(signal, task_addr); /* nothing else changes any more */
	return 0;
}

#endif /* SEED_BPF_H */
