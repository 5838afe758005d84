/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat - one accessor per kernel difference, decided by BTF, never by version
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define TASK_DEAD         0x80  /* include/linux/sched.h, 4.14 on */
#define TASK_NEW          0x800 /* 4.14 on */
#define PF_EXITING        0x00000004
#define PF_IO_WORKER      0x00000010
#define PF_USER_WORKER    0x00004000 /* 6.4 on */
#define PF_KTHREAD        0x00200000
#define SIGNAL_GROUP_EXIT 0x00000004
#define MAX_RT_PRIO       100

/* Members of the kernel's rss_stat, the same in all releases. */
#define RSS_FILE     0
#define RSS_ANON     1
#define RSS_SWAP     2
#define RSS_SHMEM    3
#define RSS_KINDS    4
#define RSS_RESIDENT (1u << RSS_FILE | 1u << RSS_ANON | 1u << RSS_SHMEM)

/*
 * With NO_FETCH for kernels without fetch and exchange atomics (before 5.12), calls in a loop
 * (5.17) and a current task that can be read like memory (5.11).
 */
#ifdef NO_FETCH
#define current_task()          ((struct task_struct *)bpf_get_current_task())
#define current_at(task)        current_task()
#define task_read(task, member) BPF_CORE_READ(task, member)
#define REPEAT_MAX              64
#define repeat(n, step, ctx)                                        \
	({                                                          \
		for (u32 i_ = 0; i_ < REPEAT_MAX && i_ < (n); i_++) \
			if (step(i_, ctx))                          \
				break;                              \
	})
#else
#define current_task()            bpf_get_current_task_btf()
#define task_read(task, member)   ((task)->member)
#define repeat(n, step, ctx)      bpf_loop(n, step, ctx, 0)

/*
 * The current task, which the caller knows to be at @task.  A helper's call costs 20 ns, a seventh
 * of what the kernel takes to run a program at all; where the kernel can cast instead
 * (bpf_rdonly_cast, 6.2), user space puts that in its place, which is no call (source_bpf_cast.c).
 */
#define FUNC_get_current_task_btf 158 /* include/uapi/linux/bpf.h */
static struct task_struct *(*current_cast)(u64 task, u64 mark) = (void *)FUNC_get_current_task_btf;
#define current_at(task)          current_cast(task, EVENT_CAST_MARK)
#endif

/* One value for the check and for the use: older verifiers do not see that two are the same. */
static __always_inline u64 this_cpu(void)
{
	u64 cpu = bpf_get_smp_processor_id();

	barrier_var(cpu);
	return cpu;
}

/* From the copying of an exec's arguments to its end. */
static __always_inline bool is_in_exec(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

static __always_inline u64 task_state(struct task_struct *task)
{
	struct task_struct___v2_6 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

/* @task is the current one, as current_task() gives it. */
static __always_inline bool task_is_dead(struct task_struct *task)
{
	struct task_struct___v2_6 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task_read(task, __state) & TASK_DEAD;
	return BPF_CORE_READ(old, state) & TASK_DEAD;
}

/* 6.1 on: the last thread sets group_exit_code; earlier the leader's own code may differ. */
static __always_inline u32 signal_exit_code(struct signal_struct *signal, struct task_struct *task)
{
	if (BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

#define TS_COMPAT 0x0002 /* arch/x86, as long as there has been a thread_info.status */

/*
 * Whether the system call that current makes is a 32-bit one, which the classic tracepoints leave
 * out (KERNEL: arch_trace_is_compat_syscall); not x32's.
 */
static __always_inline bool is_compat_call(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.status))
		return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
	return false;
}

/* A program of 32 bits has no addresses above. */
static __always_inline bool is_compat_image(struct mm_struct *mm)
{
	return BPF_CORE_READ(mm, task_size) <= 1ull << 32;
}

static __always_inline u64 mm_hugetlb_pages(struct mm_struct *mm)
{
	struct mm_struct___hugetlb *huge = (void *)mm;

	if (bpf_core_field_exists(huge->hugetlb_usage))
		return BPF_CORE_READ(huge, hugetlb_usage.counter);
	return 0;
}

#endif /* COMPAT_BPF_H */
