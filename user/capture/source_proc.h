/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_proc - what the files of the source that reads /proc share
 */
#ifndef SOURCE_PROC_H
#define SOURCE_PROC_H

#include <time.h>

#include "capture/source.h"
#include "hash.h"
#include "procfs/scan.h"

struct seen {
	int32_t pid;
	UT_hash_handle hh;
	int32_t ppid;
	struct proc_stat stat;
	int64_t cpu_ns; /* as of then; UNKNOWN */
	struct proc_status status;
	struct io_counts io;
	bool had_threads;          /* more than one, at some time */
	UT_hash_handle by_rss;     /* of those that were read in this pass: */
	int64_t key_rss_bytes;     /* what was resident */
	bool shares;               /* another's address space, when it was last seen; */
	int64_t shared_mark_bytes; /* the mark of that */
	bool has_stat, has_status; /* was read at least once */
	char argv_of[64];          /* its name when its arguments were read */
	int64_t born_ns;
	uint64_t pass; /* the last one that met it */
	bool taken_in; /* it was there before; what it had used and its mark then: */
	struct proc_stat before;
	int64_t cpu_before_ns;
	struct io_counts io_before;
	int64_t mark_before_bytes;
	int64_t rss_max_bytes; /* of what was seen since */
	bool ended; /* a zombie: it stays until it is waited for, so that it is one row */
	bool reaped;
	int wait_status;
	int64_t reaped_ns;
};

struct source_proc {
	struct source base;
	pid_t root;
	bool attached;
	pid_t *roots; /* to what */
	size_t n_roots;
	bool taken_in;                                 /* source_open is over */
	int64_t initial, base_user_ns, base_system_ns; /* when it was attached */
	struct seen *by_pid, *by_rss;
	pid_t *strangers; /* children that we had before (a shell's that executed us) */
	size_t n_strangers;
	uint64_t pass;
	int64_t ticks_ns;    /* a clock tick */
	int64_t boot_ns;     /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	int64_t floor_bytes; /* our own size when the root was forked: ru_maxrss cannot be below */
	int64_t reaped_user_ns, reaped_system_ns; /* of what we waited for, its children included */
	int64_t maxrss_bytes; /* the largest of their ru_maxrss above the floor; UNKNOWN */
	int64_t cpu_ns, user_ns, system_ns; /* the newest totals, which never fall */
	int64_t processes_max, threads_max; /* UNKNOWN before anything was seen */
};

struct sums {
	struct scan_result scan;
	int64_t user_ns, system_ns;
};

/* source_proc_look.c: who belongs to it */
struct seen *proc_find(const struct source_proc *s, int32_t pid);
/* Notes the children that are there already and are not the command's: 0 or -ENOMEM. */
int proc_find_strangers(struct source_proc *s, pid_t root);
/* One more to begin at: 0 or -ENOMEM. */
int proc_add_root(struct source_proc *s, pid_t pid);
/* Its number may be another's from now on. */
void proc_remove_root(struct source_proc *s, pid_t pid);
/* True once for each: it was one of them. */
bool proc_was_stranger(struct source_proc *s, pid_t pid);
/* One that has ended, whom nobody may ever have seen: what is still there of it. */
void proc_look_at_ended(struct source_proc *s, pid_t pid);
/* One pass over /proc: the living summed up, the gone handed on. */
int proc_look(struct source_proc *s, struct sums *sum);

/* source_proc_rows.c */
int64_t proc_ticks_ns(const struct source_proc *s, uint64_t n);
int proc_hand_on(struct source_proc *s, struct seen *p, bool running);
/* It is gone: its row, and it is forgotten. */
int proc_drop(struct source_proc *s, struct seen *p);
int proc_read_image(struct source_proc *s, struct seen *p);

#endif /* SOURCE_PROC_H */
