/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace_tracer - the process that traces: it waits for stops, reads, and lets go on at once
 *
 * A process of its own, so that it never waits for anything but stops: not for a disk, not while
 * exitmeter is stopped; and so that the kernel keeps its stops apart from those that the command's
 * parent waits for.  Whatever ends it lets the whole tree go on untraced.
 */
#ifndef SOURCE_PTRACE_TRACER_H
#define SOURCE_PTRACE_TRACER_H

#include "capture/source.h"
#include "capture/source_ptrace_program.h"
#include "capture/source_ptrace_reading.h"
#include "capture/source_ptrace_share.h"
#include "model/overlap.h"

#define TRACER_UNSETTLED 2 /* its status where an exit had begun and not come to its end */

struct tracer {
	struct share *share;
	const struct source_options *options;
	struct tree_table table;
	struct reader reader;
	struct program_cache *programs;
	struct overlap overlap;
	struct share_totals sums;
	bool armed;      /* a timer runs for those that are held */
	size_t ending;   /* processes on their way out */
	uint64_t strays; /* were taken in without a creator's word, which may still come */
	bool privileged; /* a set-user-ID program keeps its privilege under it */
};

/* Never returns.  @parent: exitmeter; the end of it is the tracer's. */
_Noreturn void tracer_main(struct share *share, const struct source_options *o, pid_t parent);

/* --- between the tracer's files --- */

/* Follows the thread from now on: 0 or -errno. */
int tracer_seize(pid_t tid);
/* Takes what has happened by now; false: nothing had. */
bool tracer_see_next(struct tracer *t, bool wait);
/* The command, held and followed. */
void tracer_take_root(struct tracer *t, pid_t root);
/* Takes in those whose creator cannot tell of them any more; @late: or has not for long. */
void tracer_take_strays(struct tracer *t, bool late);
/* A process that is followed from now on.  NULL: out of memory. */
struct member *tracer_take_in(struct tracer *t, pid_t tgid, pid_t ppid, bool was_there);
void tracer_remark(struct tracer *t, enum remark_kind kind, const struct member *m);

/* source_ptrace_records.c */
pid_t tracer_thread_of(const struct tracer *t, const struct member *m);
void tracer_born(struct tracer *t, struct member *m, const struct member *creator, bool vfork);
void tracer_execed(struct tracer *t, struct member *m);
/* One more, and the most at once. */
void tracer_count_thread(struct tracer *t);
void tracer_ended(struct tracer *t, struct member *m, int wait_status, const struct rusage *ru);
void tracer_running(struct tracer *t, struct member *m);
void tracer_let_go(struct tracer *t, struct member *m);

/* Takes in the tree that is there until nobody new is found: 0, -errno. */
int tracer_seed(struct tracer *t);

#endif /* SOURCE_PTRACE_TRACER_H */
