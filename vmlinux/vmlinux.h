/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vmlinux - the kernel types the BPF programs read, and no more
 *
 * Only the members that are read, in any order: libbpf finds each one in the running kernel's BTF
 * by its name.  "___v6_2" marks the first release with that layout.  README.md says how to add one.
 */
#ifndef VMLINUX_H
#define VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __s32 s32;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

/* Spelt by bpf_helper_defs.h, never read here. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum { false = 0, true = 1 };
typedef _Bool bool;

#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_MMAPABLE = 1 << 10,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *prev;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct percpu_counter {
	s64 count;
	s32 *counters;
};

struct mm_struct {
	unsigned long hiwater_rss;
	unsigned long hiwater_vm;
	unsigned long total_vm;
	unsigned long arg_start;
	unsigned long arg_end;
	unsigned long env_end;
	unsigned long task_size;
	atomic_t mm_users;
	struct percpu_counter rss_stat[4];
};

/* With CONFIG_HUGETLB_PAGE. */
struct mm_struct___hugetlb {
	atomic64_t hugetlb_usage;
};

/* Up to 6.1: plain atomics. */
struct mm_rss_stat {
	atomic64_t count[4];
};

struct mm_struct___v4_5 {
	struct mm_rss_stat rss_stat;
};

struct task_io_accounting {
	u64 rchar;
	u64 wchar;
	u64 syscr;
	u64 syscw;
	u64 read_bytes;
	u64 write_bytes;
	u64 cancelled_write_bytes;
};

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
};

struct signal_struct {
	atomic_t live;
	u64 sum_sched_runtime; /* of threads that are gone */
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct pid_namespace {
	unsigned int level;
};

/* x86 alone has a status. */
struct thread_info {
	u32 status;
};

typedef struct {
	u32 val;
} kuid_t;

typedef struct {
	u32 val;
} kgid_t;

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	unsigned int in_execve : 1;
	int prio;
	struct mm_struct *mm;
	struct mm_struct *active_mm;
	int exit_code;
	int pid;
	int tgid;
	struct list_head children;
	struct list_head sibling;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	u64 utime;
	u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct sched_entity se;
	const struct sched_class *sched_class;
	const struct cred *cred;
	char comm[16];
	struct signal_struct *signal;
	struct task_io_accounting ioac;
};

/* Up to 5.13. */
struct task_struct___v2_6 {
	long state;
};

/* Up to 6.1 a thread's own counts, not yet in its address space's. */
struct task_rss_stat {
	int count[4];
};

struct task_struct___v6_1 {
	struct task_rss_stat rss_stat;
};

/* Where a percpu array keeps its per-CPU memory (CONFIG_BPF_SYSCALL). */
struct bpf_array {
	void *pptrs[1];
};

/* Since 6.10, and stable kernels of that summer: records are safe from who writes their reader's
 * position. */
struct bpf_ringbuf {
	unsigned long pending_pos;
};

/* The classic tracepoint's record. */
struct trace_event_raw_signal_deliver {
	int sig;
	unsigned long sa_handler;
};

/* Since 6.9 the OOM tracepoint names the victim's task; before, its pid. */
struct trace_event_raw_mark_victim {
	u32 __data_loc_comm;
};

/* Since 6.16 the exit tracepoint comes before the address space goes, and has an event of its own.
 */
struct trace_event_raw_sched_process_exit {
	bool group_dead;
};

/* Since 6.1 hash maps that do not preallocate are safe in tracing programs. */
struct bpf_mem_alloc {
	void *cache;
};

struct bpf_iter_meta {
	u64 seq_num;
};

/* The kernel has its members in unions without a name. */
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif /* VMLINUX_H */
