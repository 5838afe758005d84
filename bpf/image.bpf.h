/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image - a process's address space is replaced by exec
 */
#ifndef IMAGE_BPF_H
#define IMAGE_BPF_H

#include "process.bpf.h"

#define ARGV_SMALL  128
#define ARGV_MEDIUM 1024

static __always_inline u64 beyond(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* What the image that an exec is about to close has come to. */
__noinline int image_note(u64 signal, u64 task_addr)
{
	struct task_struct *task = (void *)task_addr;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct process *p = process_find(signal);
	u32 cpu = bpf_get_smp_processor_id();
	u64 rss, hiwater, vm, key;
	struct mm_entry *e;

	if (!mm || !p || p->event.flags & EVENT_SHARED_MM)
		return 0;
	mm_sample((u64)mm, cpu, SAMPLE_MUST);
	rss = rss_pages((u64)mm, RSS_RESIDENT);
	key = (u64)mm;
	e = bpf_map_lookup_elem(&mms, &key);
	hiwater = mark_of(e, mm);
	p->image_last_pages = rss;
	if (e) {
		if (e->known > rss)
			rss = e->known;
		p->image_error_pages = hiwater_error(e);
	}
	mm_raise(key, rss);
	maximum(&p->image_exact_pages, rss);
	maximum(&p->image_hiwater_pages, hiwater);
	if (!(p->event.flags & EVENT_FORKED_IMAGE)) {
		vm = BPF_CORE_READ(mm, hiwater_vm);
		maximum(&p->event.vm_peak_pages, vm);
		vm = BPF_CORE_READ(mm, total_vm);
		maximum(&p->event.vm_peak_pages, vm);
	}
	return 0;
}

/*
 * 6.10 on: the old image is whole, its other threads still run.  From here on its memory goes, and
 * its address may be another's before the exec is done: it leaves now, but for upper, which holds
 * what it has come to until the new image is in place.
 */
static __always_inline int prepare_exec(struct task_struct *task, struct process *p)
{
	if (!exec_once(p))
		return 0;
	image_note(p->signal, (u64)task);
	mm_leave(p->mm, p->signal, true);
	return 0;
}

#define SEND_EXEC(room)                                                                          \
	({                                                                                       \
		struct exec_event *ev_ = bpf_ringbuf_reserve(&events, sizeof(*ev_) + (room), 0); \
		if (ev_) {                                                                       \
			u64 len_ = args < (room) ? args : (room);                                \
			exec_fill(ev_, p, task);                                                 \
			ev_->flags = truncated;                                                  \
			ev_->argv_len = len_;                                                    \
			if (len_ && bpf_probe_read_user(ev_->argv, len_ & (2 * (room)-1),        \
							(void *)arg_start))                      \
				ev_->argv_len = 0;                                               \
			bpf_ringbuf_submit(ev_, wake_flags());                                   \
		} else {                                                                         \
			__sync_fetch_and_add(&drops.exec_events, 1);                             \
		}                                                                                \
	})

/* Straight into the record: the stack has no room for it. */
static __always_inline void exec_fill(struct exec_event *ev, const struct process *p,
				      struct task_struct *task)
{
	ev->type = EVENT_EXEC;
	ev->start_ns = p->event.start_ns;
	ev->at_ns = bpf_ktime_get_ns();
	ev->at_peak_pages = p->closed_at_peak_pages;
	ev->at_peak_epoch = p->closed_at_peak_epoch;
	ev->tgid = p->event.tgid;
	ev->pid = p->event.pid;
	ev->run = p->event.run;
	bpf_probe_read_kernel_str(ev->comm, sizeof(ev->comm), task->comm);
}

/* Takes the old image's last part out of upper, with what other threads took after prepare_exec. */
static __always_inline void closing_end(struct process *p)
{
	u64 held = p->closing_pages, peak = p->image_exact_pages;

	if (!held)
		return;
	if (p->image_hiwater_pages > peak)
		peak = p->image_hiwater_pages;
	if (peak > held)
		run_move(p->event.run, 0, peak - held);
	else
		peak = held;
	tree_settle(p->event.run);
	run_move(p->event.run, 0, -peak);
	p->closing_pages = 0;
}

/*
 * An exec was not announced: the address space is gone, and what is left of it is what was seen and
 * the mark in the process's rusage, its own once that grew (KERNEL: exec_mmap).
 */
static __noinline void image_unseen(struct process *p, u64 mm, u64 maxrss)
{
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);
	u64 error = hiwater_error(e);

	if (p->event.flags & EVENT_SHARED_MM)
		return;
	p->event.flags |= EVENT_IMAGE_UNSEEN;
	p->image_exact_pages = e ? e->known : 0;
	p->image_hiwater_pages = e ? e->hiwater : 0;
	p->image_last_pages = 0;
	if (maxrss > p->maxrss_before && maxrss > p->image_hiwater_pages)
		p->image_hiwater_pages = maxrss;
	p->image_error_pages = beyond(maxrss + error, p->image_hiwater_pages);
	mm_raise(mm, maxrss + error);
}

/* At execve(2), and its other threads when they were killed: unless the rusage knows of more. */
static __noinline bool image_was_noted(struct process *p, u64 maxrss)
{
	u64 peak = p->event.peak_pages;

	if (!p->exec_noted || p->event.flags & EVENT_SHARED_MM)
		return p->exec_noted;
	if (p->event.flags & EVENT_HIWATER)
		maximum(&p->image_hiwater_pages, peak);
	else
		maximum(&p->image_exact_pages, peak);
	return maxrss <= p->maxrss_before ||
	       maxrss <= p->image_exact_pages + p->image_error_pages ||
	       maxrss <= p->image_hiwater_pages;
}

/* Set before load, or before the hooks are live. */
const volatile __u32 page_bytes = 4096;
__u32 exec_by_tracepoint = 0; /* prepare_exec comes by sched_prepare_exec */

#define PATH_PART 128

/*
 * From the copying of the arguments until its end the old image's count holds their pages, which
 * are the new one's (KERNEL: acct_arg_size): the top of its stack, which ends with the environment,
 * the program's path and an empty word (KERNEL: bprm_mm_init, copy_string_kernel).
 */
static __noinline u64 arg_pages(struct mm_struct *mm)
{
	u64 first = BPF_CORE_READ(mm, arg_start), end = BPF_CORE_READ(mm, env_end);
	char path[PATH_PART];
	long len = bpf_probe_read_user_str(path, sizeof(path), (void *)end);

	end += (len > 0 ? len : 0) + sizeof(void *);
	return (end - 1) / page_bytes + 1 - first / page_bytes;
}

/* Takes them out of the last reading; what was more than that before may have held them too. */
static __always_inline void image_without_args(struct process *p, u64 pages)
{
	u64 last = p->image_last_pages;

	if (!exec_by_tracepoint || !(p->event.flags & EVENT_IN_EXEC) || last <= pages)
		return;
	p->image_last_pages = last - pages;
	if (p->image_exact_pages <= last && p->image_exact_pages > last - pages) {
		p->image_exact_pages = last - pages;
		if (p->image_hiwater_pages)
			p->image_error_pages += pages;
	}
}

/* The old image's peak goes into the process's. */
__noinline int image_count(u64 signal, u64 args)
{
	struct process *p = process_find(signal);
	u64 exact, hiwater, peak, high, error = 0;
	u32 flag = 0;

	if (!p)
		return 0;
	image_without_args(p, args);
	exact = p->image_exact_pages;
	hiwater = p->image_hiwater_pages;
	peak = hiwater > exact ? hiwater : exact;
	if (hiwater > exact) {
		flag = EVENT_IMAGES_HIWATER;
		error = p->image_error_pages;
	} else if (p->image_last_pages < exact) {
		flag = EVENT_IMAGES_FELL;
		error = beyond(hiwater + p->image_error_pages, exact);
	}
	peak = beyond(peak, p->event.inherited_pages);
	if (p->event.flags & EVENT_SHARED_MM)
		return 0;
	high = p->event.images_peak_pages + p->event.images_error_pages;
	if (peak + error > high)
		high = peak + error;
	if (peak > p->event.images_peak_pages) {
		p->event.images_peak_pages = peak;
		p->event.flags &= ~(EVENT_IMAGES_HIWATER | EVENT_IMAGES_FELL);
		p->event.flags |= flag;
	}
	p->event.images_error_pages = high - p->event.images_peak_pages;
	return 0;
}

/* Closes the old image: its part leaves the sums. */
static __always_inline void image_close(struct process *p, u64 maxrss, u64 args)
{
	u64 mm = p->mm;

	if (!(p->event.flags & EVENT_IN_EXEC)) {
		if (!image_was_noted(p, maxrss))
			image_unseen(p, mm, maxrss);
		p->exec_noted = 0;
		mm_leave(mm, p->signal, false);
	}
	closing_end(p);
	image_count(p->signal, args);
	p->closed_at_peak_pages = p->event.at_peak_pages;
	p->closed_at_peak_epoch = p->event.at_peak_epoch;
	p->event.at_peak_pages = 0;
	p->image_exact_pages = p->image_hiwater_pages = 0;
}

__noinline int exec_send(u64 signal, u64 task_addr)
{
	struct task_struct *task = (void *)task_addr;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct process *p = process_find(signal);
	u64 arg_start = BPF_CORE_READ(mm, arg_start);
	u64 args = BPF_CORE_READ(mm, arg_end) - arg_start;
	u32 truncated = 0;

	if (!p)
		return 0;
	if (lent && p->event.flags & EVENT_FOREIGN)
		args = 0;
	if (args > EVENT_ARGV_MAX) {
		args = EVENT_ARGV_MAX;
		truncated = EVENT_ARGV_TRUNCATED;
	}
	if (args <= ARGV_SMALL)
		SEND_EXEC(ARGV_SMALL);
	else if (args <= ARGV_MEDIUM)
		SEND_EXEC(ARGV_MEDIUM);
	else
		SEND_EXEC(EVENT_ARGV_MAX);
	return 0;
}

/*
 * What a run is named by (--split-key ENV:), and what holds the number of its start (--start ENV:),
 * each with the '='; set before load.
 */
const volatile char env_key[EVENT_KEY_MAX] = "";
const volatile __u32 env_key_len = 0;
const volatile char env_start[EVENT_KEY_MAX] = "";
const volatile __u32 env_start_len = 0;

#ifndef NO_FETCH
#define ENV_VARIABLES 512 /* are looked at, from the first */

/*
 * Of the image that an exec has just made, while nobody has run it: its environment begins where
 * the arguments end (KERNEL: create_elf_tables).
 */
static __always_inline int env_find(u64 signal, u64 task_addr, u32 type, const char *key,
				    u32 key_len)
{
	struct task_struct *task = (void *)task_addr;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 at = BPF_CORE_READ(mm, arg_end), end = BPF_CORE_READ(mm, env_end);
	struct process *p = process_find(signal);
	struct env_event *ev;
	bool rest = false; /* of a variable that did not fit */
	long len = 0;
	int i;

	/* Up to 6.7 it is verified although nobody calls it. */
	if (!p || nr_runs <= 1 || !key_len)
		return 0;
	ev = bpf_ringbuf_reserve(&events, sizeof(*ev), 0);
	if (!ev) {
		__sync_fetch_and_add(&drops.exec_events, 1);
		return 0;
	}
	ev->type = type;
	ev->start_ns = p->event.start_ns;
	ev->tgid = p->event.tgid;
	ev->run = p->event.run;
	ev->found = 0;
	for (i = 0; i < ENV_VARIABLES && at < end; i++) {
		len = bpf_probe_read_user_str(ev->text, sizeof(ev->text), (void *)at);
		if (len <= 0) {
			ev->found = EVENT_ENV_MORE;
			break;
		}
		if (!rest && !bpf_strncmp(ev->text, key_len, key)) {
			ev->found = (u32)len;
			break;
		}
		rest = len == sizeof(ev->text); /* it was cut for the NUL */
		at += len - rest;
	}
	if (i == ENV_VARIABLES && at < end)
		ev->found = EVENT_ENV_MORE;
	bpf_ringbuf_submit(ev, wake_flags());
	return 0;
}

__noinline int env_send(u64 signal, u64 task_addr)
{
	return env_find(signal, task_addr, EVENT_ENV, (const char *)env_key, env_key_len);
}

__noinline int env_send_start(u64 signal, u64 task_addr)
{
	return env_find(signal, task_addr, EVENT_ENV_START, (const char *)env_start, env_start_len);
}
#else
static __always_inline int env_send(u64 signal, u64 task_addr)
{
	return 0;
}

static __always_inline int env_send_start(u64 signal, u64 task_addr)
{
	return 0;
}
#endif

/* The new image is in place, the other threads are gone. */
static __always_inline int process_exec(struct task_struct *task, struct process *p,
					const bool plain)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u32 cpu = bpf_get_smp_processor_id();
	u64 maxrss;

	maxrss = BPF_CORE_READ(task, signal, maxrss);
	image_close(p, maxrss, arg_pages(mm));
	p->maxrss_before = maxrss;
	p->mm = (u64)mm;
	p->event.flags &= ~(EVENT_SHARED_MM | EVENT_FORKED_IMAGE | EVENT_IN_EXEC |
			    EVENT_UNTRACKED_MM | EVENT_MEMORY | EVENT_HIWATER | EVENT_FELL);
	p->event.peak_pages = p->event.error_pages = 0;
	p->event.inherited_pages = 0;
	p->event.execs++;
	if (lent && is_foreign(task))
		p->event.flags |= EVENT_FOREIGN;
	if (mm_enter((u64)mm, p->event.run, 0, cpu))
		p->event.flags |= EVENT_UNTRACKED_MM;
	run_add(p->event.run, FIELD(execs), 1);
	if (!plain)
		image_look(mm);
	if (!plain && nr_runs > 1 && env_key_len && p->event.flags & EVENT_RUN_FIRST)
		env_send(p->signal, (u64)task);
	if (!plain && nr_runs > 1 && env_start_len && p->event.flags & EVENT_RUN_FIRST)
		env_send_start(p->signal, (u64)task);
	exec_send(p->signal, (u64)task);
	return 0;
}

#endif /* IMAGE_BPF_H */
