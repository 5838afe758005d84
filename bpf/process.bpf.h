/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process - a process enters the tree; what is sent to user space
 */
#ifndef PROCESS_BPF_H
#define PROCESS_BPF_H

#ifdef NO_FETCH
#include "memory_old.bpf.h"
#else
#include "memory.bpf.h"
#endif

__u32 namespace_level = 0; /* of the caller's pid namespace */

/* The process's pid as exitmeter's own pid namespace sees it; 0 where it does not. */
static __always_inline u32 pid_in_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	u32 at = namespace_level, level = BPF_CORE_READ(pid, level);
	int nr = 0;

	if (level < at)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      at * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* Whether ptrace's first rule would keep the owner away from it: all of its ids are the owner's. */
static __always_inline bool is_foreign(struct task_struct *task)
{
	const struct cred *c = BPF_CORE_READ(task, cred);
	u32 uid = owner_uid, gid = owner_gid;

	return BPF_CORE_READ(c, uid.val) != uid || BPF_CORE_READ(c, euid.val) != uid ||
	       BPF_CORE_READ(c, suid.val) != uid || BPF_CORE_READ(c, gid.val) != gid ||
	       BPF_CORE_READ(c, egid.val) != gid || BPF_CORE_READ(c, sgid.val) != gid;
}

/* What a new entry starts as; too large for a stack. */
const struct process blank_process = {};

static __always_inline void fork_send(const struct exit_event *ev)
{
	struct fork_event fork = { .type = EVENT_FORK };

	fork.start_ns = ev->start_ns;
	fork.at_ns = ev->born_ns;
	fork.inherited_pages = ev->inherited_pages;
	fork.tgid = ev->tgid;
	fork.pid = ev->pid;
	fork.ppid = ev->ppid;
	fork.run = ev->run;
	fork.flags = ev->flags;
	if (bpf_ringbuf_output(&events, &fork, sizeof(fork), wake_flags()))
		__sync_fetch_and_add(&drops.fork_events, 1);
}

static __always_inline void counters_read(struct task_struct *task, u64 *to)
{
	to[0] = BPF_CORE_READ(task, utime);
	to[1] = BPF_CORE_READ(task, stime);
	to[2] = BPF_CORE_READ(task, min_flt);
	to[3] = BPF_CORE_READ(task, maj_flt);
	to[4] = BPF_CORE_READ(task, nvcsw);
	to[5] = BPF_CORE_READ(task, nivcsw);
	to[6] = BPF_CORE_READ(task, ioac.rchar);
	to[7] = BPF_CORE_READ(task, ioac.wchar);
	to[8] = BPF_CORE_READ(task, ioac.syscr);
	to[9] = BPF_CORE_READ(task, ioac.syscw);
	to[10] = BPF_CORE_READ(task, ioac.read_bytes);
	to[11] = BPF_CORE_READ(task, ioac.write_bytes);
	to[12] = BPF_CORE_READ(task, ioac.cancelled_write_bytes);
}

/* Takes in the process of @task_addr, which has not run; @creator is 0 for the root. */
__noinline int process_enter(u64 task_addr, u64 creator_signal, u32 ppid, u32 run)
{
	struct task_struct *task = (void *)task_addr;
	struct process *creator = creator_signal ? process_find(creator_signal) : NULL;
	u64 signal = signal_of(task), mm = (u64)BPF_CORE_READ(task, mm);
	struct exit_event *ev;
	struct mm_entry *e;
	struct process *p;

	p = bpf_map_lookup_elem(&processes, &signal);
	/* The task iterator met it before its first wakeup. */
	if (attaching && p && p->event.start_ns == BPF_CORE_READ(task, start_boottime)) {
		run_give_back(creator, run);
		return 0;
	}
	if (p) {
		__sync_fetch_and_add(&drops.stale_entries, 1);
		bpf_map_delete_elem(&processes, &signal);
	}
	if (bpf_map_update_elem(&processes, &signal, &blank_process, BPF_NOEXIST) ||
	    !(p = bpf_map_lookup_elem(&processes, &signal))) {
		/* Or it met it just now, and has counted it. */
		if (!attaching || !bpf_map_lookup_elem(&processes, &signal))
			__sync_fetch_and_add(&drops.processes_unfollowed, 1);
		run_give_back(creator, run);
		return 0;
	}
	p->signal = signal;
	p->mm = mm;
	__sync_fetch_and_add(&membership_number, 2);
	ev = &p->event;
	ev->type = EVENT_EXIT;
	ev->start_ns = BPF_CORE_READ(task, start_boottime);
	ev->born_ns = bpf_ktime_get_ns();
	ev->tgid = BPF_CORE_READ(task, tgid);
	ev->pid = pid_in_namespace(task);
	ev->ppid = ppid;
	ev->run = run;
	ev->threads = p->gauge = 1;
	e = bpf_map_lookup_elem(&mms, &mm);
	if (!creator_signal) {
		/* The held child's image is exitmeter's: none of the run's until it execs. */
		ev->flags = EVENT_SHARED_MM;
	} else if ((e && e->mm == mm && !e->dead) || (creator && creator->mm == mm)) {
		ev->flags = EVENT_SHARED_MM;
		if (e) {
			__sync_fetch_and_add(&e->users, 1);
			e->guest = task_addr;
		}
	} else {
		ev->flags = EVENT_FORKED_IMAGE;
		ev->inherited_pages = rss_pages(mm, RSS_RESIDENT);
		if (mm_enter(mm, run, ev->inherited_pages, bpf_get_smp_processor_id()))
			ev->flags |= EVENT_UNTRACKED_MM;
	}
	if (nr_runs > 1 && creator && creator->event.flags & EVENT_SPLITTER)
		ev->flags |= EVENT_RUN_FIRST;
	if (lent && is_foreign(task))
		ev->flags |= EVENT_FOREIGN;
	if (creator_signal)
		run_add(run, FIELD(forks), 1);
	run_count(run, FIELD(processes), 1);
	run_count(run, FIELD(threads), 1);
	fork_send(ev);
	return 0;
}

#endif /* PROCESS_BPF_H */
