/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * end - a process ends: its memory at the exit hook, the rest when its last thread is off the CPU
 */
#ifndef END_BPF_H
#define END_BPF_H

#include "image.bpf.h"
#include "slice.bpf.h"

/* What only the living address space knows. */
static __noinline void exit_memory(struct process *p, struct mm_struct *mm, u32 cpu)
{
	struct exit_event *ev = &p->event;
	struct mm_entry *e;
	u64 key = (u64)mm, exact, hiwater, vm;

	mm_sample(key, cpu, SAMPLE_MUST);
	ev->anon_pages = rss_pages(key, 1u << RSS_ANON);
	ev->file_pages = rss_pages(key, 1u << RSS_FILE);
	ev->shmem_pages = rss_pages(key, 1u << RSS_SHMEM);
	ev->swap_pages = rss_pages(key, 1u << RSS_SWAP);
	ev->hugetlb_pages = mm_hugetlb_pages(mm);
	exact = ev->anon_pages + ev->file_pages + ev->shmem_pages;
	e = bpf_map_lookup_elem(&mms, &key);
	hiwater = mark_of(e, mm);
	ev->peak_pages = exact;
	if (e && e->known > exact) {
		/* It was more before: how much more only the mark tells, about. */
		ev->peak_pages = e->known;
		ev->flags |= EVENT_FELL;
		ev->error_pages = beyond(hiwater + hiwater_error(e), e->known);
	}
	if (hiwater > ev->peak_pages) {
		ev->peak_pages = hiwater;
		ev->flags = (ev->flags & ~EVENT_FELL) | EVENT_HIWATER;
		ev->error_pages = hiwater_error(e);
	}
	vm = BPF_CORE_READ(mm, hiwater_vm);
	maximum(&ev->vm_peak_pages, vm);
	vm = BPF_CORE_READ(mm, total_vm);
	maximum(&ev->vm_peak_pages, vm);
	ev->flags |= EVENT_MEMORY;
}

static __always_inline bool is_kernels(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & (PF_IO_WORKER | PF_USER_WORKER);
}

/* Its memory when a thread sets out to end; the last one's is the process's. */
static __always_inline int snapshot(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct process *p = process_find(signal_of(task));
	struct mm_struct *mm;

	if (!p || closed || is_kernels(task))
		return 0;
	mm = BPF_CORE_READ(task, mm);
	if (mm && !(p->event.flags & EVENT_SHARED_MM))
		exit_memory(p, mm, bpf_get_smp_processor_id());
	__sync_fetch_and_add(&p->snapped, 1);
	return 0;
}

/* Nobody read it in time: what was seen, and the mark in the process's rusage. */
static __always_inline void exit_bound(struct process *p, struct task_struct *task)
{
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss), before = p->maxrss_before, key = p->mm;
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &key);
	struct exit_event *ev = &p->event;
	u64 high = maxrss + hiwater_error(e);

	if (ev->flags & EVENT_TAKEN_IN && !ev->execs && ev->mark_before_pages > before)
		before = ev->mark_before_pages;
	if (e && e->known > ev->peak_pages)
		ev->peak_pages = e->known;
	ev->flags = (ev->flags & ~(EVENT_MEMORY | EVENT_FELL | EVENT_HIWATER)) | EVENT_BOUND;
	if (maxrss > before && maxrss > ev->peak_pages) {
		ev->peak_pages = maxrss;
		ev->flags |= EVENT_HIWATER;
	}
	ev->error_pages = beyond(high, ev->peak_pages);
	mm_raise(key, high);
}

#define THREAD_CACHE_PAGES (64 * 16) /* see split_rss */

/*
 * Up to 6.1 a thread's reading lacks what other threads have not handed over; when the last one
 * ends all have, and the rusage has the whole (KERNEL: sync_mm_rss, setmax_mm_hiwater_rss), unless
 * that is of another image or from before memory fell.
 */
static __always_inline bool exit_whole(struct process *p, struct task_struct *task,
				       struct mm_struct *mm)
{
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss);
	u64 mark = BPF_CORE_READ(mm, hiwater_rss);
	struct exit_event *ev = &p->event;

	if (!split_rss || ev->flags & EVENT_TAKEN_IN || maxrss <= p->maxrss_before ||
	    mark + ev->threads * THREAD_CACHE_PAGES > maxrss || ev->peak_pages > maxrss)
		return false;
	if (ev->anon_pages + ev->file_pages + ev->shmem_pages != maxrss)
		ev->flags |= EVENT_NO_SPLIT;
	ev->flags = (ev->flags & ~(EVENT_FELL | EVENT_HIWATER)) | EVENT_MEMORY;
	ev->peak_pages = maxrss;
	ev->error_pages = 0;
	mm_raise(p->mm, maxrss);
	return true;
}

/* What was read in time, and what the struct still tells. */
static __noinline void exit_recall(struct process *p, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, active_mm);
	bool same = (u64)mm == p->mm;
	u64 vm;

	if (!(same && exit_whole(p, task, mm)) && p->ended > p->snapped)
		exit_bound(p, task);
	if (!same)
		return;
	vm = BPF_CORE_READ(mm, hiwater_vm);
	maximum(&p->event.vm_peak_pages, vm);
	vm = BPF_CORE_READ(mm, total_vm);
	maximum(&p->event.vm_peak_pages, vm);
}

__noinline int exit_note(u64 signal, u64 task_addr)
{
	struct task_struct *task = (void *)task_addr;
	struct process *p = process_find(signal);
	struct exit_event *ev;

	if (!p)
		return 0;
	ev = &p->event;
	ev->ended_ns = bpf_ktime_get_ns();
	ev->exit_code = signal_exit_code((void *)p->signal, task);
	bpf_probe_read_kernel_str(ev->comm, sizeof(ev->comm),
				  BPF_CORE_READ(task, group_leader)->comm);
	run_add(ev->run, FIELD(exits), 1);
	run_count(ev->run, FIELD(processes), -1);
	return 0;
}

static __always_inline int process_exit(struct task_struct *task, struct process *p, bool again,
					const bool plain)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct mm_struct *mm;

	mm = BPF_CORE_READ(task, mm);
	if (!again) {
		__sync_fetch_and_add(&p->gauge, -1);
		run_count(p->event.run, FIELD(threads), -1);
		if (!is_kernels(task))
			__sync_fetch_and_add(&p->ended, 1);
	}
	if (BPF_CORE_READ(task, signal, live.counter)) {
		/* Killed by an exec of another thread: it may have grown since prepare_exec. */
		if (p->event.flags & EVENT_IN_EXEC)
			image_note(p->signal, (u64)task);
		return 0;
	}
	/* The second copy, or the second of two threads that both find nobody alive. */
	if (!exit_once(p))
		return 0;
	if (!plain && may_be_late && exit_late && !(p->event.flags & EVENT_SHARED_MM))
		exit_recall(p, task);
	else if (mm && !(p->event.flags & EVENT_SHARED_MM))
		exit_memory(p, mm, cpu);
	exit_note(p->signal, (u64)task);
	mm_leave(p->mm, p->signal, false);
	closing_end(p);
	return 0;
}

/*
 * The ring is full: the record stays in the map of processes, under an odd key, which no address
 * is, until user space takes it from there.  Not at the cost of those who live.
 */
__noinline int record_keep(u64 signal)
{
	struct process *p = process_find(signal);
	u64 key;

	if (!p || tree.processes + records_kept - records_taken >= keep_max)
		return -1;
	key = (p->event.start_ns ^ (u64)p->event.tgid << 40) << 1 | 1;
	if (bpf_map_update_elem(&processes, &key, p, BPF_NOEXIST))
		return -1;
	__sync_fetch_and_add(&records_kept, 1);
	return 0;
}

/* What the ended process adds to the totals. */
static __always_inline void total_record(struct run_totals *r, struct exit_event *ev, u64 peak)
{
	u64 *to = &r->utime_ns, *from = &ev->utime_ns;

	__sync_fetch_and_add(&r->cpu_ns, ev->cpu_ns);
	for (int i = 0; i < EVENT_COUNTERS; i++)
		__sync_fetch_and_add(&to[i], from[i]);
	__sync_fetch_and_add(&r->sum_peak_pages, peak);
	largest_note(r, peak);
}

static __always_inline void io_withhold(struct exit_event *ev)
{
	ev->rchar = ev->wchar = ev->syscr = ev->syscw = 0;
	ev->read_bytes = ev->write_bytes = ev->cancelled_write_bytes = 0;
}

/*
 * The last thread is off the CPU: the record goes out.  With @leave it has yet to leave its address
 * space if the exit hook was skipped.
 */
static __always_inline void process_finish(struct process *p, u64 task, bool leave)
{
	struct exit_event *ev = &p->event;
	u64 signal = p->signal, peak;
	struct run_totals *own;
	bool many = ev->threads != 1 || ev->flags & EVENT_TAKEN_IN;

	if (!(ev->flags & EVENT_EXITED)) {
		ev->flags |= EVENT_REPAIRED;
		exit_note(signal, task);
		if (leave) {
			mm_leave(p->mm, signal, false);
			closing_end(p);
		}
		run_add(ev->run, FIELD(repaired), 1);
	}
	if (p->gauge) /* the hook was skipped for some */
		run_count(ev->run, FIELD(threads), -(s64)(s32)p->gauge);
	peak = ev->images_peak_pages > ev->peak_pages ? ev->images_peak_pages : ev->peak_pages;
	total_record(&tree, ev, peak);
	if ((own = run_own(ev->run)))
		total_record(own, ev, peak);
	if (lent && ev->flags & EVENT_FOREIGN)
		io_withhold(ev);
	if (bpf_ringbuf_output(&events, ev, sizeof(*ev), wake_flags()) && record_keep(signal)) {
		__sync_fetch_and_add(&drops.exit_events, 1);
		run_add(ev->run, FIELD(lost_exits), 1);
	}
	/* Last: whoever waits for it finds the record there. */
	run_add(ev->run, FIELD(records), 1);
	if (bpf_map_delete_elem(&processes, &signal))
		__sync_fetch_and_add(&drops.delete_failed, 1);
	claims_drop(signal, many);
}

/*
 * What the thread used, into its process @signal; of one that was there before only what came
 * since.  0 when it is not known at all.  By numbers, so that its stack is not the caller's.
 */
__noinline int thread_add(u64 signal, u64 task_addr)
{
	struct task_struct *task = (void *)task_addr;
	struct process *p = process_find(signal);
	struct thread_before *before = NULL;
	u64 counters[EVENT_COUNTERS], cpu, *to;

	if (!p)
		return 0;
	if (attaching && p->event.flags & EVENT_TAKEN_IN) {
		before = bpf_map_lookup_elem(&threads, &task_addr);
		if (!before)
			return 0;
	}
	to = &p->event.utime_ns;
	cpu = BPF_CORE_READ(task, se.sum_exec_runtime);
	counters_read(task, counters);
	/* This very switch is counted already; wait4 leaves it out. */
	if (task_state(task) & TASK_DEAD)
		__sync_fetch_and_add(&p->event.voluntary_switches, -1);
	__sync_fetch_and_add(&p->event.cpu_ns, before ? cpu - before->cpu_ns : cpu);
	for (int i = 0; i < EVENT_COUNTERS; i++)
		__sync_fetch_and_add(&to[i],
				     before ? counters[i] - before->counters[i] : counters[i]);
	return 1;
}

/*
 * Of a process that was taken in the last thread is gone when the kernel says that none lives and
 * none is left of those we know: one may have come or gone unseen meanwhile.
 */
static __always_inline bool taken_thread_finish(struct process *p, struct task_struct *task)
{
	u64 key = bpf_get_current_task(), signal = p->signal;

	if (thread_add(signal, key)) {
		if (bpf_map_delete_elem(&threads, &key) || !count_down(&p->here))
			return false;
	}
	return !p->here && !BPF_CORE_READ(task, signal, live.counter) && finish_once(p, signal);
}

/* @task is current. */
static __always_inline int thread_finish(struct process *p, struct task_struct *task)
{
	struct exit_event *ev = &p->event;
	u64 key = bpf_get_current_task(), signal = signal_of(task);
	bool last;

	if (runtimes_used)
		bpf_map_delete_elem(&runtimes, &key);
	__sync_fetch_and_add(&membership_number, 2);
	if (attaching && ev->flags & EVENT_TAKEN_IN) {
		last = taken_thread_finish(p, task);
	} else {
		thread_add(signal, key);
		last = dead_is_last(p, signal);
	}
	if (last)
		process_finish(p, key, true);
	return 0;
}

#endif /* END_BPF_H */
