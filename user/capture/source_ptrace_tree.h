/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace_tree - what the tracer follows: threads, their processes, and address spaces
 *
 * A thread is found by its id and a process by its leader's: neither is used again before the
 * tracer has waited for it.  Bytes, ns; UNKNOWN unknown.
 */
#ifndef SOURCE_PTRACE_TREE_H
#define SOURCE_PTRACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hash.h"
#include "model/record.h"

/* Of the whole process while it lives, or of its last moment. */
struct reading {
	int64_t rss_bytes, mark_bytes, vm_peak_bytes;
	struct rss_split split;
};

/* An address space; processes that share one are told from others by kcmp(2). */
struct space {
	size_t users;
	uint64_t birth;     /* in the overlap; 0: not followed */
	int64_t most_bytes; /* it may have come to; UNKNOWN: not read yet */
};

/* The counters of a process when it was attached to. */
struct before {
	int64_t cpu_ns, minor_faults, major_faults, utime_ticks, stime_ticks;
	int64_t voluntary, involuntary; /* of the leader */
	struct io_counts io; /* of the leader while it has no other thread, else of all */
	int64_t mark_bytes;
};

struct member {
	pid_t tgid;
	UT_hash_handle hh;
	struct process_key key;
	pid_t creator; /* tgid */
	int64_t born_ns;
	char comm[EM_COMM_LEN];
	struct space *space; /* its own or a shared one; NULL: no memory to follow it */
	bool shares;         /* it has none of its own: vfork or CLONE_VM, no exec since */
	bool taken_in;       /* it was there before */
	bool held;           /* it waits to exec the command: its image is exitmeter's */
	bool has_children;   /* of the kernel's counters some are theirs */
	bool ending;         /* its last thread is on its way out */
	int last_code;       /* what the last one so far ended with, as in wait(2) */
	size_t threads;      /* that are followed */
	size_t alive;        /* of them not on their way out */
	int64_t threads_ever, execs;
	int64_t inherited_bytes;
	/* Of the image that is there: as its last thread (@seen_last) or one of the last had it. */
	struct reading last;
	bool seen, seen_last;
	/* Of images before an exec: at least, at most; and what ru_maxrss was at the last one. */
	int64_t images_bytes, images_most_bytes, maxrss_bytes;
	int64_t children_maxrss_bytes;
	/* Counters of threads that ended, the leader apart. */
	int64_t threads_voluntary, threads_involuntary;
	size_t threads_read;
	bool threads_unread;
	/* I/O, as of exit stops: of all of it at the last one, or the sum of single threads. */
	struct io_counts io, threads_io;
	bool has_io;
	size_t io_read;
	bool io_unread;
	struct before before;
};

struct tracee {
	pid_t tid;
	UT_hash_handle hh;
	struct member *of; /* NULL: its first stop came before its creator told of it */
	bool leaving;      /* its exit stop was seen */
	int64_t held_ns;   /* without a process: since when it is held */
};

struct tree_table {
	struct tracee *tracees;
	struct member *members;
	size_t waiting; /* tracees without a process */
};

struct tracee *tracee_find(const struct tree_table *t, pid_t tid);
struct member *member_find(const struct tree_table *t, pid_t tgid);
/* Each NULL without memory. */
struct tracee *tracee_add(struct tree_table *t, pid_t tid, struct member *of);
struct member *member_add(struct tree_table *t, pid_t tgid);
/* Gives a waiting one its process. */
void tracee_join(struct tree_table *t, struct tracee *e, struct member *of);
void tracee_remove(struct tree_table *t, struct tracee *e);
void member_remove(struct tree_table *t, struct member *m);

#endif /* SOURCE_PTRACE_TREE_H */
