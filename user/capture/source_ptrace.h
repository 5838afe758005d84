/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace - what the files of the session's side of it share
 */
#ifndef SOURCE_PTRACE_H
#define SOURCE_PTRACE_H

#include "capture/source.h"
#include "capture/source_ptrace_reading.h"
#include "capture/source_ptrace_share.h"
#include "hash.h"

/* A living process as the records have it. */
struct living {
	int32_t pid;
	UT_hash_handle hh;
	int32_t ppid;
	char comm[EM_COMM_LEN];
	int64_t born_ns;
	struct process_key key;
	bool shared;
	int64_t cpu_before_ns, cpu_ns; /* used since it is metered, as it was last seen */
	int64_t seen_bytes;            /* the most that a sample saw */
};

struct source_ptrace {
	struct source base;
	struct share *share;
	struct reader reader;
	pid_t tracer;     /* 0: it is waited for */
	bool tracer_lost; /* it ended without being asked to */
	bool unsettled;   /* an exit that had begun did not come to its end */
	bool finished;
	bool attached;
	int quiet;
	struct living *living;
	struct source *beside; /* samples those that were let go; NULL: none were */
	int64_t beside_born, beside_ended, let_go;
	int64_t beside_processes, beside_threads, beside_due_ns;
	int64_t waited_cpu_ns; /* the most that wait4 told of one child and those below it */
	int64_t ended_cpu_ns;  /* of the records */
	int64_t cpu_ns;        /* of all, never falls */
	int64_t baseline_ns;
};

struct living *ptrace_living_find(const struct source_ptrace *s, int32_t pid);
void ptrace_living_forget(struct source_ptrace *s, struct living *l);

/* source_ptrace_beside.c: those that the tracer let go, and what is left when it is lost */
int ptrace_follow_beside(struct source_ptrace *s, pid_t pid);
void ptrace_look_beside(struct source_ptrace *s);
void ptrace_count_living(const struct source_ptrace *s, int64_t *ret_processes,
			 int64_t *ret_threads);
int ptrace_put_rest(struct source_ptrace *s);

#endif /* SOURCE_PTRACE_H */
