/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse - pure parsers of /proc files: text in, numbers out
 *
 * Text need not be NUL-terminated.  Each returns 0 and fills *@ret, or -EBADMSG and leaves it
 * untouched.  Sizes are bytes.  -1 where the kernel does not print the line.
 */
#ifndef PROCFS_PARSE_H
#define PROCFS_PARSE_H

#include <stddef.h>
#include <stdint.h>

/* /proc/PID/stat.  The last ')' ends the name.  Never its field 24 (RSS): approximate. */
struct proc_stat {
	int32_t pid, ppid;
	char state;
	char comm[64];  /* as printed between the brackets, NUL-terminated, cut at 63 */
	uint64_t flags; /* 9 */
	uint64_t minor_faults, major_faults; /* 10, 12 */
	uint64_t utime_ticks, stime_ticks;   /* 14, 15 */
	int64_t cutime_ticks, cstime_ticks;  /* 16, 17: signed in the kernel */
	int64_t threads;                     /* 20 */
	uint64_t start_ticks;                /* 22, since boot */
};
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret);

/* /proc/PID/statm, in pages. */
struct proc_statm {
	uint64_t size_pages, resident_pages, shared_pages;
};
int proc_statm_parse(const char *text, size_t len, struct proc_statm *ret);

/* /proc/PID/status; a zombie or kernel thread has no Vm lines. */
struct proc_status {
	int64_t vm_peak_bytes, vm_hwm_bytes, vm_rss_bytes;
	int64_t rss_anon_bytes, rss_file_bytes, rss_shmem_bytes, vm_swap_bytes, hugetlb_bytes;
	int64_t threads, voluntary_switches, involuntary_switches;
	char state;
};
int proc_status_parse(const char *text, size_t len, struct proc_status *ret);

/* The ids in /proc/PID/status. */
struct proc_kin {
	int64_t tgid, ppid, tracer_pid; /* 0: no tracer */
};
int proc_kin_parse(const char *text, size_t len, struct proc_kin *ret);

/* /proc/PID/smaps_rollup, by the kernel's own walk.  Pss: each page by its share of processes. */
struct proc_rollup {
	int64_t rss_bytes, pss_bytes;
};
int proc_rollup_parse(const char *text, size_t len, struct proc_rollup *ret);

/* /proc/PID/io.  -1 for lines that are not there. */
struct proc_io {
	int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};
int proc_io_parse(const char *text, size_t len, struct proc_io *ret);

/* /proc/PID/schedstat: CPU ns, ns waited, slices. */
struct proc_schedstat {
	uint64_t cpu_ns, wait_ns, slices;
};
int proc_schedstat_parse(const char *text, size_t len, struct proc_schedstat *ret);

/* /proc/vmstat: pages taken from processes or the cache (pgsteal_*) and swapped out (pswpout). */
struct proc_vmstat {
	uint64_t stolen_pages, swapped_out_pages;
};
int proc_vmstat_parse(const char *text, size_t len, struct proc_vmstat *ret);

#endif /* PROCFS_PARSE_H */
