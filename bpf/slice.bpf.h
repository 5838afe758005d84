/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice - CPU by the slices of the tree's tasks on each CPU, without hash lookups, atomics or
 * clocks
 */
#ifndef SLICE_BPF_H
#define SLICE_BPF_H

#include "tree.bpf.h"

enum membership {
	STRANGER,
	MEMBER,         /* VERDICT_MEMBER */
	UNKNOWN_THREAD, /* of a process that was taken in: it was overlooked then */
};

static __always_inline enum membership look_up(struct task_struct *task, struct cpu_slot *slot)
{
	struct process *p = process_find(signal_of(task));
	struct thread_before *before;
	u64 key = (u64)task;

	if (!p)
		return STRANGER;
	if (!attaching || !(p->event.flags & EVENT_TAKEN_IN))
		return MEMBER;
	before = bpf_map_lookup_elem(&threads, &key);
	if (!before)
		return UNKNOWN_THREAD;
	/* The slice it was in when it was taken in began before that. */
	if (!before->counted) {
		before->counted = 1;
		if (slot->counted != key) {
			slot->counted = key;
			slot->runtime_ns = before->cpu_ns;
		}
	}
	return MEMBER;
}

/*
 * By the address, in whose high bits two tasks need not differ (Knuth's multiplicative hash).  Each
 * has two places, this and the one beside it: two that take turns must not drive each other out.
 */
static __always_inline u32 verdict_place(u64 task)
{
	return (u32)(task >> 6) * 2654435769u >> (32 - VERDICT_BITS);
}

/* The verdict about the task at @address, which may be an old one; NULL: none. */
static __always_inline struct verdict *verdict_about(u64 address, struct cpu_slot *slot)
{
	u32 place = verdict_place(address);
	struct verdict *v = &slot->verdicts[place];

	if (v->task == address)
		return v;
	v = &slot->verdicts[place ^ 1];
	return v->task == address ? v : NULL;
}

static __always_inline void verdict_keep(u64 address, u64 word, struct cpu_slot *slot)
{
	u32 place = verdict_place(address);
	struct verdict *v = &slot->verdicts[place];

	if (v->task != address)
		slot->verdicts[place ^ 1] = *v;
	v->task = address;
	v->word = word;
}

/*
 * Whether @task, which is current and lies at @address, is in the tree.  Most switches are between
 * few processes, and nothing about them changed since the last time.
 */
static __always_inline enum membership is_member(struct task_struct *task, u64 address,
						 struct cpu_slot *slot)
{
	struct verdict *v = verdict_about(address, slot);
	u64 number = membership_number;
	enum membership is;

	if (v && (v->word & ~VERDICT_MEMBER) == number)
		return (enum membership)(v->word & VERDICT_MEMBER);
	is = closed ? STRANGER : look_up(task, slot);
	if (is != UNKNOWN_THREAD)
		verdict_keep(address, number | is, slot);
	return is;
}

/*
 * Whether prev_sum_exec_runtime of @task, which is current, is what its runtime was when it came on
 * the CPU (KERNEL: set_next_entity).
 */
static __always_inline bool is_fair(struct task_struct *task)
{
	if (prio_tells_class)
		return task_read(task, prio) >= MAX_RT_PRIO;
	return (u64)BPF_CORE_READ(task, sched_class) == fair_class;
}

__u64 runtimes_used = 0; /* entries that were ever made in runtimes */

/*
 * What the runtime of @task was when it was last counted; interrupts are off.  A task that was ever
 * seen outside the fair class has that in an entry of its own, which goes on when it comes back.
 */
static __always_inline u64 counted_before(struct task_struct *task, struct cpu_slot *slot,
					  u64 runtime)
{
	u64 since = task_read(task, se.prev_sum_exec_runtime), key = (u64)task, *seen;
	bool fair = is_fair(task), here = slot->counted == (u64)task;

	barrier_var(since); /* one load must not serve two types of pointer */
	if (here)
		since = slot->runtime_ns;
	if (fair && !runtimes_used)
		return since;
	seen = bpf_map_lookup_elem(&runtimes, &key);
	if (seen) {
		if (!fair && !here)
			since = *seen;
		*seen = runtime;
	} else if (!fair) {
		/* How much of a slice that began in the fair class was counted is not known. */
		if (!here && since)
			since = runtime;
		if (bpf_map_update_elem(&runtimes, &key, &runtime, BPF_ANY)) {
			since = runtime; /* no room: only its record will tell */
			__sync_fetch_and_add(&drops.slices, 1);
		} else {
			__sync_fetch_and_add(&runtimes_used, 1);
		}
	}
	return since;
}

/* CPU of the task since it was last counted; @leaves: the slice ends here. */
static __always_inline void count_slice(struct task_struct *task, struct cpu_slot *slot,
					bool leaves)
{
	u64 runtime = task_read(task, se.sum_exec_runtime);
	u64 since = counted_before(task, slot, runtime);
	struct process *p;
	struct run_totals *own;

	if (leaves) {
		slot->counted = 0;
	} else {
		slot->counted = (u64)task;
		slot->runtime_ns = runtime;
	}
	if (runtime <= since)
		return;
	slot->cpu_ns += runtime - since;
	if (nr_runs > 1 && (p = process_find(signal_of(task))) && (own = run_own(p->event.run)))
		__sync_fetch_and_add(&own->slices_ns, runtime - since);
}

#endif /* SLICE_BPF_H */
