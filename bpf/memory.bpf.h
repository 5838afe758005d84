/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory - the tree's running sum of RSS, and the sum's peak
 *
 * Every address space of the tree has an entry with its last and its highest known RSS, every run
 * the sums of both.  A value is up to a tick old while its process runs, so before a sum counts as
 * a new maximum, and before an address space leaves, what runs on the CPUs is read again.  Values
 * enter and leave the sums only under the entry's try-lock, and an entry is marked dead in the
 * same step that takes its values out: a run without processes has sums 0.
 */
#ifndef MEMORY_BPF_H
#define MEMORY_BPF_H

#include "once.bpf.h"
#include "rss.bpf.h"

#define CONSIDER_NS 1000000ull /* at most one new maximum a millisecond */
#define LOCK_TRIES  (1 << 16)  /* a holder's CPU may be away for a while */

struct lock_try {
	u64 mm;
	u64 task;
	bool held;
};

static long lock_step(u32 i, struct lock_try *t)
{
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &t->mm);

	if (!e)
		return 1;
	if (__sync_val_compare_and_swap(&e->lock, 0, t->task) != 0)
		return e->lock == t->task; /* the one that was interrupted: it cannot let go */
	if (e->mm == t->mm && !e->dead)
		t->held = true;
	else
		__sync_val_compare_and_swap(&e->lock, t->task, 0);
	return 1;
}

/* @e is the entry of @mm; false when it is gone, or busy for all @tries. */
static __always_inline bool entry_lock(struct mm_entry *e, u64 mm, u64 task, u32 tries)
{
	struct lock_try t = { .mm = mm, .task = task };

	if (__sync_val_compare_and_swap(&e->lock, 0, task) == 0) {
		if (e->mm == mm && !e->dead)
			return true;
		__sync_val_compare_and_swap(&e->lock, task, 0);
		return false;
	}
	bpf_loop(tries, lock_step, &t, 0);
	return t.held;
}

/* By exchange: whoever recycled the element meanwhile keeps his lock. */
static __always_inline void entry_unlock(struct mm_entry *e, u64 task)
{
	__sync_val_compare_and_swap(&e->lock, task, 0);
}

/* Before its part in lower changes: what it was at the newest peak stays known. */
static __always_inline void entry_set_aside(struct mm_entry *e)
{
	if (e->epoch != tree.epoch) {
		e->at_peak = e->net;
		e->epoch = tree.epoch;
	}
}

static __always_inline void totals_move(struct run_totals *r, s64 lower, s64 upper)
{
	__sync_fetch_and_add(&r->lower_pages, lower);
	maximum(&r->upper_max_pages, __sync_fetch_and_add(&r->upper_pages, upper) + upper);
}

__noinline int run_move(u32 run, s64 lower, s64 upper)
{
	struct run_totals *own;

	if (!lower && !upper)
		return 0;
	totals_move(&tree, lower, upper);
	if ((own = run_own(run)))
		totals_move(own, lower, upper);
	return 0;
}

/* Moves the entry's parts in the sums; the lock is held. */
static __always_inline void entry_move(struct mm_entry *e, u64 net, u64 high)
{
	s64 lower = net - e->net, upper = high - e->high;

	if (lower)
		entry_set_aside(e);
	e->net = net;
	e->high = high;
	run_move(e->run, lower, upper);
}

/* Its end takes memory away too, and leaves the mark alone. */
static __always_inline bool mm_is_used(struct mm_struct *mm)
{
	return BPF_CORE_READ(mm, mm_users.counter) > 0;
}

/* Puts a reading into its entry; the lock is held. */
static __always_inline void entry_note(struct mm_entry *e, u64 rss, u64 hiwater)
{
	u64 net = rss > e->inherited ? rss - e->inherited : 0;
	u64 high = e->high;

	e->rss = rss;
	if (rss > e->known)
		e->known = rss;
	/* It rises before memory goes: RSS fell and it did not, so somebody wrote clear_refs. */
	if (!split_rss && rss + hiwater_error(e) < e->known &&
	    hiwater + hiwater_error(e) < e->known && mm_is_used((struct mm_struct *)e->mm))
		e->mark_reset = 1;
	if (hiwater <= e->mark_before)
		hiwater = 0;
	if (hiwater > e->hiwater)
		e->hiwater = hiwater;
	if (rss > high)
		high = rss;
	if (e->hiwater > e->known || rss < e->known) {
		u64 bound = e->hiwater + hiwater_error(e);

		if (bound > high)
			high = bound;
	}
	entry_move(e, net, high);
}

#define OUTSIDE_PAGES 256 /* less is not worth a note */

struct runner {
	u64 mm;
	bool runs;
};

static long runs_on_cpu(u32 cpu, struct runner *r)
{
	struct task_struct *task;

	if (cpu >= EVENT_CPUS_MAX)
		return 1;
	task = (void *)slots[cpu].task;
	r->runs |= (u64)BPF_CORE_READ(task, mm) == r->mm;
	return r->runs;
}

/*
 * Memory that changed although the only task there is did not run since it was looked at, which
 * the caller has seen, was changed by somebody else (SPEC U-131).
 */
static __noinline void see_outside(struct mm_entry *e, u64 rss)
{
	struct task_struct *last = (void *)e->task;
	u64 moved = rss > e->rss ? rss - e->rss : e->rss - rss;
	struct runner r = { .mm = e->mm };

	if (!moved || !last || e->users != 1 || BPF_CORE_READ(last, on_cpu) ||
	    BPF_CORE_READ(last, signal, live.counter) != 1)
		return;
	bpf_loop(nr_cpus, runs_on_cpu, &r, 0);
	if (r.runs)
		return;
	/* Others may take it away little by little. */
	e->outside_pages += moved;
	if (e->outside_pages < OUTSIDE_PAGES)
		return;
	run_add(e->run, FIELD(outside_pages), e->outside_pages);
	e->outside_pages = 0;
}

/* Whether @task still has that address space: it may have gone on to another, or ended. */
static __always_inline bool is_its(struct task_struct *task, u64 mm)
{
	return task && (u64)BPF_CORE_READ(task, mm) == mm;
}

/*
 * Reads the RSS of @mm_addr, which lives because its task runs on @cpu or is current, into its
 * entry.  An address space outside the tree is nothing.
 */
__noinline int mm_sample(u64 mm_addr, u32 cpu, u32 how)
{
	struct mm_struct *mm = (void *)mm_addr;
	u64 task = bpf_get_current_task();
	struct mm_entry *e;
	struct task_struct *last;
	u64 rss, hiwater, bit, runtime;
	bool slept = false, its;

	e = bpf_map_lookup_elem(&mms, &mm_addr);
	if (!e || e->mm != mm_addr || e->dead)
		return 0;
	last = (void *)(how == SAMPLE_FOLD ? e->task : task);
	its = is_its(last, mm_addr);
	/* An exec's arguments are counted here until it is done (KERNEL: acct_arg_size). */
	if ((its && is_in_exec(last)) ||
	    (is_its((void *)e->guest, mm_addr) && is_in_exec((void *)e->guest)))
		return 0;
	bit = how == SAMPLE_FOLD ? 0 : 1ull << (cpu < 63 ? cpu : 63);
	rss = rss_pages(mm_addr, RSS_RESIDENT);
	hiwater = mark_of(e, mm);
	if (how != SAMPLE_FOLD) {
		e->task_runtime_ns = BPF_CORE_READ((struct task_struct *)task, se.sum_exec_runtime);
		e->task = task;
	}
	if (how == SAMPLE_FOLD) {
		runtime = its ? BPF_CORE_READ(last, se.sum_exec_runtime) : 0;
		slept = its && runtime == e->task_runtime_ns;
		e->task_runtime_ns = runtime;
	}
	if (rss == e->rss && hiwater == e->hiwater && (e->cpus & bit) == bit)
		return 0;

	if (!entry_lock(e, mm_addr, task, how != SAMPLE_TRY ? LOCK_TRIES : 0)) {
		/* Held by the very task that was interrupted: it reads again when it goes on. */
		if (how != SAMPLE_TRY && e->mm == mm_addr && !e->dead && e->lock != task)
			run_add(e->run, FIELD(lock_missed), 1);
		return 0;
	}
	if (slept)
		see_outside(e, rss);
	e->cpus |= bit;
	/* Again, now that nobody else writes: a reading older than the lock could undo a newer one.
	 */
	entry_note(e, rss_pages(mm_addr, RSS_RESIDENT), BPF_CORE_READ(mm, hiwater_rss));
	entry_unlock(e, task);
	return 0;
}

static long fold_living(u32 i, void *unused)
{
	if (i >= LIVING_MAX)
		return 1;
	if (living[i])
		mm_sample(living[i], bpf_get_smp_processor_id(), SAMPLE_FOLD);
	return 0;
}

static long fold_cpu(u32 cpu, void *unused)
{
	struct task_struct *task;
	u64 mm;

	if (cpu >= EVENT_CPUS_MAX)
		return 1;
	task = (void *)slots[cpu].task;
	mm = (u64)BPF_CORE_READ(task, mm);
	if (mm)
		mm_sample(mm, cpu, SAMPLE_MUST);
	return 0;
}

static __always_inline void run_accept(struct run_totals *r, u64 now)
{
	u64 sum = r->lower_pages;

	maximum(&r->interval_max_pages, sum);
	if (sum <= r->lower_max_pages)
		return;
	maximum(&r->lower_max_pages, sum);
	r->lower_max_at_ns = now;
	__sync_fetch_and_add(&r->epoch, 1);
}

static __always_inline bool run_rises(const struct run_totals *r)
{
	return r->lower_pages > r->interval_max_pages || r->lower_pages > r->lower_max_pages;
}

/* Takes the sums of the tree, and of @run, as maxima, all that runs read again. */
__noinline int tree_settle(u32 run)
{
	struct run_totals *own = run_own(run);
	u64 now = bpf_ktime_get_ns();

	tree.considered_ns = now;
	/* A small tree is read whole: even what was changed from outside is seen then. */
	bpf_loop(living_top, fold_living, NULL, 0);
	if (tree.unread_mms)
		bpf_loop(nr_cpus, fold_cpu, NULL, 0);
	run_accept(&tree, now);
	if (own)
		run_accept(own, now);
	return 0;
}

/* The same if a sum rises, and at most once a millisecond. */
static __always_inline void tree_consider(u32 run)
{
	struct run_totals *own = run_own(run);

	if ((run_rises(&tree) || (own && run_rises(own))) &&
	    bpf_ktime_get_ns() - tree.considered_ns >= CONSIDER_NS)
		tree_settle(run);
}

static long living_step(u32 i, struct lock_try *t)
{
	if (i >= LIVING_MAX || living[i] || __sync_val_compare_and_swap(&living[i], 0, t->mm) != 0)
		return 0;
	t->task = i + 1;
	return 1;
}

static __always_inline void living_add(struct mm_entry *e, u64 mm)
{
	struct lock_try t = { .mm = mm };

	bpf_loop(LIVING_MAX, living_step, &t, 0);
	e->place = t.task;
	if (e->place > living_top)
		living_top = e->place;
	if (!e->place)
		__sync_fetch_and_add(&tree.unread_mms, 1);
}

static __always_inline void living_remove(struct mm_entry *e)
{
	u32 i = e->place - 1;

	if (!e->place)
		__sync_fetch_and_add(&tree.unread_mms, -1);
	else if (i < LIVING_MAX)
		living[i] = 0;
}

/*
 * A new address space in the tree; with CPU_ANY it was there before.  Not 0: no room, counted.
 */
__noinline int mm_enter(u64 mm, u32 run, u64 inherited, u32 cpu)
{
	u64 rss = rss_pages(mm, RSS_RESIDENT);
	struct mm_struct *space = (void *)mm;
	struct mm_entry *e;

	e = bpf_map_lookup_elem(&mms, &mm);
	if (e && !e->dead) { /* its end was never seen */
		__sync_fetch_and_add(&drops.stale_entries, 1);
		run_move(e->run, -e->net, -e->high);
		living_remove(e);
	}
	if (bpf_map_update_elem(&mms, &mm, &blank_mm, BPF_ANY) ||
	    !(e = bpf_map_lookup_elem(&mms, &mm))) {
		__sync_fetch_and_add(&drops.mms_untracked, 1);
		return 1;
	}
	e->rss = e->known = e->high = rss;
	e->net = rss > inherited ? rss - inherited : 0;
	e->inherited = inherited;
	e->cpus = 1ull << (cpu < 63 ? cpu : 63);
	if (cpu == CPU_ANY) {
		e->mark_before = BPF_CORE_READ(space, hiwater_rss);
		/* A burst since that stays below that mark leaves no trace of itself. */
		if (e->mark_before > rss)
			e->high = e->mark_before + hiwater_error(e);
	}
	e->epoch = tree.epoch;
	e->run = run;
	e->users = 1;
	barrier();
	e->mm = mm; /* from here on others take it for what it is */
	run_move(run, e->net, e->high);
	living_add(e, mm);
	return 0;
}

/* Takes the address space out of the sums; @upper of it stays. */
static __always_inline void mm_end(struct mm_entry *e, u64 upper)
{
	entry_move(e, 0, upper);
	entry_set_aside(e);
	e->dead = 1;
	living_remove(e);
}

/* It has come to @high, which no reading shows. */
static __always_inline void mm_raise(u64 mm, u64 high)
{
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);
	u64 task = bpf_get_current_task();

	if (!e || e->mm != mm || e->dead || high <= e->high || !entry_lock(e, mm, task, LOCK_TRIES))
		return;
	entry_move(e, e->net, high);
	entry_unlock(e, task);
}

/*
 * The process of @signal no longer has the address space, which still lives.  The last one takes it
 * out of the sums once what runs elsewhere was read again; its part in the peak goes into the
 * process.  With @closing the process keeps its part of upper a while longer, in closing_pages.
 */
__noinline int mm_leave(u64 mm, u64 signal, bool closing)
{
	u64 task = bpf_get_current_task();
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);
	struct process *p = process_find(signal);
	u64 high;

	if (!p || !e || e->mm != mm || e->dead)
		return 0;
	if (!count_down(&e->users))
		return 0;
	tree_settle(e->run);
	/* Taken out all the same if it stays busy: a sum that never returns to 0 is worse. */
	if (!entry_lock(e, mm, task, LOCK_TRIES))
		run_add(e->run, FIELD(lock_missed), 1);
	high = e->high;
	mm_end(e, closing ? high : 0);
	if (closing)
		p->closing_pages = high;
	if (e->mark_reset)
		flag_set(p, EVENT_MARK_RESET);
	p->event.at_peak_pages = e->at_peak;
	p->event.at_peak_epoch = e->epoch;
	entry_unlock(e, task);
	if (bpf_map_delete_elem(&mms, &mm))
		__sync_fetch_and_add(&drops.delete_failed, 1);
	return 0;
}

/* One user less of an address space that may be gone: it must not be read again. */
__noinline int mm_forget(u64 mm)
{
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);
	u64 task = bpf_get_current_task();

	if (!e || e->mm != mm || e->dead || !count_down(&e->users))
		return 0;
	if (!entry_lock(e, mm, task, LOCK_TRIES))
		run_add(e->run, FIELD(lock_missed), 1);
	mm_end(e, 0);
	entry_unlock(e, task);
	bpf_map_delete_elem(&mms, &mm);
	return 0;
}

#endif /* MEMORY_BPF_H */
