/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree - who is in the tree, and its totals
 */
#ifndef TREE_BPF_H
#define TREE_BPF_H

#include "compat.bpf.h"
#include "exit_event.h"

#define LIVING_MAX 64

/* Set before load. */
const volatile __u32 nr_cpus = 1;
const volatile __u32 nr_runs = 1;
/* What hiwater_rss can be short by, a CPU it ran on: 3 * (batch - 1) since 6.2 (KERNEL:
 * lib/percpu_counter.c). */
const volatile __u32 hiwater_slack_pages = 0;
/* The kernel has no sched_ext: whoever has no real-time priority is in the fair class. */
const volatile __u32 prio_tells_class = 0;
const volatile __u32 attaching = 0; /* the tree was there before us */
const volatile __u32 ring_bytes = 0;
const volatile __u32 keep_max = 0; /* with so many in the processes map no record is kept there */
/* Loaded by exitmeter-probed for somebody else, who may not know all about others' processes. */
const volatile __u32 lent = 0;
const volatile __u32 owner_uid = 0;
const volatile __u32 owner_gid = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64); /* address of signal_struct: one a process, kept over any exec */
	__type(value, struct process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64); /* address of mm_struct */
	__type(value, struct mm_entry);
} mms SEC(".maps");

/* What a new entry starts as; too large for a stack beside others. */
const struct mm_entry blank_mm = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64); /* address of task_struct, of those not in the fair class */
	__type(value, u64);
} runtimes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct run_totals);
} runs SEC(".maps"); /* number 1 on; element 0 is not used */

/* Only without fetch atomics: see once.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct claim);
	__type(value, u32);
} claims SEC(".maps");

/* The next two are there only when a tree is attached to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64); /* address of task_struct, of processes that were taken in */
	__type(value, struct thread_before);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64); /* address of signal_struct */
	__type(value, struct birth);
} births SEC(".maps");

/*
 * Those with an initialiser that are not static lie in the order of their definition: the two
 * objects made of this text share one layout.
 */
struct run_totals tree = {}; /* run 0: the whole tree */
__u64 runs_begun = 0;
__u64 living[LIVING_MAX] = {}; /* address spaces of the tree, 0: free */
__u32 living_top = 0;          /* places above were never used */
struct drop_counts drops = {};
__u64 records_kept = 0;  /* that found no room in the ring, ever */
__u64 records_taken = 0; /* of those, by user space */
/* Metering is over: from here on nothing changes, so that it can be read as of one moment. */
__u32 closed = 0;
struct cpu_slot slots[EVENT_CPUS_MAX] = {};
__u64 membership_number = 0; /* rises by two whenever a task of the tree is born or dead */
__u64 fair_class = 0;
/* Up to 6.1 each thread keeps counts of its own for up to 64 faults, of 16 pages each: readings
 * from outside, and marks, are short of those. */
__u32 split_rss = 0;
__u64 cpu_offsets[EVENT_CPUS_MAX] = {}; /* per-CPU base offsets, see measure_offsets */
__u64 offsets_leak = 0;

/* Set before load: 0 where the exit hook has memory for certain, so that the rest is not verified.
 */
const volatile __u32 may_be_late = 1;
/* Set by user space: the exit hook comes when the address space is gone (or as if it were). */
__u32 exit_late = 0;
/* With exit_late. */
__u32 compat_programs = EVENT_COMPAT_NONE;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} events SEC(".maps");

/* Nobody is woken for a record: user space polls, but at half a ring it had better come. */
static __always_inline u64 wake_flags(void)
{
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > ring_bytes / 2)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/* Wakes user space for the first 32-bit program. */
static __always_inline void image_look(struct mm_struct *mm)
{
	struct awake_event *ev;

	if (!may_be_late || !exit_late || compat_programs != EVENT_COMPAT_NONE ||
	    !is_compat_image(mm))
		return;
	compat_programs = EVENT_COMPAT_SEEN;
	ev = bpf_ringbuf_reserve(&events, sizeof(*ev), 0);
	if (!ev) /* its next poll will do */
		return;
	ev->at_ns = bpf_ktime_get_ns();
	ev->type = EVENT_AWAKE;
	ev->reserved = 0;
	bpf_ringbuf_submit(ev, BPF_RB_FORCE_WAKEUP);
}

static __always_inline u64 signal_of(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, signal);
}

static __always_inline struct process *process_find(u64 signal)
{
	struct process *p = bpf_map_lookup_elem(&processes, &signal);

	return p && p->signal == signal ? p : NULL;
}

/* The process's own run beside the tree; NULL for none.  Without split runs the code is not even
 * loaded. */
static __always_inline struct run_totals *run_own(u32 run)
{
	return nr_runs > 1 && run ? bpf_map_lookup_elem(&runs, &run) : NULL;
}

#ifndef NO_FETCH
struct run_claim {
	u64 number;
	u32 place;
};

static long claim_step(u32 i, struct run_claim *c)
{
	u32 place = 1 + (u32)(c->number + i) % (nr_runs > 1 ? nr_runs - 1 : 1);
	struct run_totals *r = bpf_map_lookup_elem(&runs, &place);

	if (!r || r->claimed || __sync_val_compare_and_swap(&r->claimed, 0, c->number) != 0)
		return 0;
	c->place = place;
	return 1;
}

/* A place for a new run, which user space frees once all of it has ended; 0: none is free. */
__noinline u32 run_begin(void)
{
	struct run_claim c = { .number = __sync_fetch_and_add(&runs_begun, 1) + 1 };

	bpf_loop(nr_runs, claim_step, &c, 0);
	if (!c.place)
		__sync_fetch_and_add(&drops.runs, 1);
	return c.place;
}

#else

/* A place is taken by exchange. */
static __always_inline u32 run_begin(void)
{
	return 0;
}

#endif

/* Of a child of that process, whether it was there before or is born now. */
static __always_inline u32 run_of_child(const struct process *creator)
{
	if (nr_runs > 1 && creator->event.flags & EVENT_SPLITTER)
		return run_begin();
	return creator->event.run;
}

/* The child was not taken in after all: a place that was claimed for it is free again. */
static __always_inline void run_give_back(const struct process *creator, u32 place)
{
	struct run_totals *r;

	if (nr_runs <= 1 || !creator || !(creator->event.flags & EVENT_SPLITTER))
		return;
	r = bpf_map_lookup_elem(&runs, &place);
	if (r)
		r->claimed = 0;
}

#ifndef NO_FETCH
/* Without a lock; @max may be raised by others meanwhile. */
__noinline int maximum(u64 *max, u64 v)
{
	if (!max)
		return 0;
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)max;

		if (v <= old || __sync_val_compare_and_swap(max, old, v) == old)
			break;
	}
	return 0;
}
#else
/* Others must not depend on it: of two at the same time either may stay. */
static __always_inline void maximum(u64 *max, u64 v)
{
	if (v > *max)
		*max = v;
}
#endif

/* Totals are addressed by their place, so that one function serves all. */
#define FIELD(member) (__builtin_offsetof(struct run_totals, member) / sizeof(u64))
#define FIELDS        (sizeof(struct run_totals) / sizeof(u64))

static __always_inline u64 *run_field(struct run_totals *r, u32 field)
{
	return (u64 *)r + field % FIELDS;
}

/* Adds @delta to the field at @field of the tree and, where it is one, of the process's own run. */
__noinline int run_add(u32 run, u32 field, s64 delta)
{
	struct run_totals *own = run_own(run);

	__sync_fetch_and_add(run_field(&tree, field), delta);
	if (own)
		__sync_fetch_and_add(run_field(own, field), delta);
	return 0;
}

#ifndef NO_FETCH
/* The same, and keeps the maximum, which stands beside it. */
__noinline int run_count(u32 run, u32 field, s64 delta)
{
	struct run_totals *own = run_own(run);

	maximum(run_field(&tree, field + 1),
		__sync_fetch_and_add(run_field(&tree, field), delta) + delta);
	if (own)
		maximum(run_field(own, field + 1),
			__sync_fetch_and_add(run_field(own, field), delta) + delta);
	return 0;
}

static __always_inline void largest_note(struct run_totals *r, u64 peak)
{
	maximum(&r->largest_peak_pages, peak);
}
#else
/* The same; the maximum is user space's, from the order of what is sent. */
__noinline int run_count(u32 run, u32 field, s64 delta)
{
	struct count_event ev = { .type = EVENT_COUNT, .field = field, .delta = delta };

	run_add(run, field, delta);
	if (bpf_ringbuf_output(&events, &ev, sizeof(ev), wake_flags()))
		__sync_fetch_and_add(&drops.count_events, 1);
	return 0;
}

/* At a last switch, interrupts off: each CPU has its own. */
static __always_inline void largest_note(struct run_totals *r, u64 peak)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu < EVENT_CPUS_MAX)
		maximum(&slots[cpu].largest_peak_pages, peak);
}
#endif

#endif /* TREE_BPF_H */
