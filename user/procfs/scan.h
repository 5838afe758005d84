/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan - reading /proc of living processes: single files, and all of a tree on kept descriptors
 *
 * A process that vanishes while it is read is normal (SPEC U-26).  Sizes are bytes.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "procfs/parse.h"
#include "procfs/reading.h"

/* 0 when /proc is there and numbers processes as getpid() does; -ENOENT, or -ESRCH: others'. */
int scan_available(void);
/* Whether it is mounted with hidepid and we may not see other users' processes all the same. */
bool scan_hides_others(void);

/* A process that is there, with a mark for whoever asks. */
struct found {
	struct proc_stat stat;
	bool member;
};

/* All of them; *@ret_n, the array owned by the caller (free). */
struct found *scan_all(size_t *ret_n);

/* One file of one process: 0 or -errno (-ENOENT, -ESRCH: gone). */
int scan_stat(pid_t pid, struct proc_stat *ret);
int scan_status(pid_t pid, struct proc_status *ret);
int scan_kin(pid_t pid, struct proc_kin *ret);
int scan_statm(pid_t pid, struct proc_statm *ret);
/* Resident bytes by a walk of the page tables: exact and slow. */
int scan_rollup(pid_t pid, struct proc_rollup *ret);
/* CPU of all its threads ever, also once it has ended and was not waited for; UNKNOWN: gone. */
int64_t scan_cpu_ns(pid_t pid);
int scan_io(pid_t pid, struct io_counts *ret);
/* Of one thread alone: scan_io is its whole process's, with the children it waited for. */
int scan_thread_io(pid_t tid, struct io_counts *ret);
/* At most @cap bytes of its arguments, NUL-separated; how many, or -errno. */
ssize_t scan_cmdline(pid_t pid, char *args, size_t cap);
/* The same of a new image: who writes a title there had no time to. */
ssize_t scan_arguments(pid_t pid, char *args, size_t cap);
int scan_vmstat(struct proc_vmstat *ret);

/* The living processes of a tree, with a descriptor kept for each that was ever read. */
struct scan;

struct scan *scan_new(void); /* NULL: out of memory */
void scan_free(struct scan *s);

/*
 * @inherited: shared with the creator by fork, counted net; @shared_mm: no address space of its
 * own, not counted.  0, -EEXIST or -ENOMEM.
 */
int scan_add(struct scan *s, struct process_key key, pid_t pid, int64_t inherited, bool shared_mm);
/* Of which run of a split tree it is, for scan_count. */
void scan_set_run(struct scan *s, struct process_key key, uint32_t run);
/* It has a new image: nothing is inherited or shared any more. */
void scan_exec(struct scan *s, struct process_key key);
void scan_remove(struct scan *s, struct process_key key);

/*
 * Reads as many as @budget_ns allows (0: all), going on where the last pass stopped; a pass that
 * read all is @ret->complete.  With @confirm all are read twice and the smaller value counts, so
 * that memory that moves from one to another during the pass is not counted twice.
 */
void scan_pass(struct scan *s, int64_t budget_ns, bool confirm, struct scan_result *ret);

/*
 * Adds up the counters of all, after a pass that was complete; or of one @run, each of which is
 * read.
 */
void scan_count(struct scan *s, uint32_t run, struct scan_counters *ret);
/* It was there before: what it has used up to now is not counted.  */
void scan_count_from_now(struct scan *s, struct process_key key);

#define SCAN_PSS_SLOW_NS 10000000LL /* one process's share took long to read */

/*
 * Reads the proportional share of memory of all, those with no address space of their own left out.
 * What is more than @confirm_bytes is read twice, and the smaller value counts, so that memory that
 * becomes shared meanwhile is not counted twice; those that take long are read last, and what they
 * grew by meanwhile is left out. Given up, not @ret->whole, after @limit_ns, or where one may not
 * be read (@ret->err).
 */
void scan_pss(struct scan *s, int64_t limit_ns, int64_t confirm_bytes, struct pss_pass *ret);

/* Called with each process's high-water mark, and the run it is of, before that is set back. */
typedef void (*scan_mark_fn)(void *ctx, struct process_key key, uint32_t run, int64_t mark_bytes);
/* Sets the marks of @run (0: of all) back to what is resident now; how many of @ret_n could be. */
size_t scan_reset_marks(struct scan *s, uint32_t run, scan_mark_fn before, void *ctx,
			size_t *ret_n);

#endif /* SCAN_H */
