/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace_share - what the tracer and the session have in common: a ring of records, totals
 *
 * Shared memory, one writer (the tracer) and one reader.  The writer never waits: where there is no
 * room a record is dropped and counted, and the totals stay right.
 */
#ifndef SOURCE_PTRACE_SHARE_H
#define SOURCE_PTRACE_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record.h"

enum share_kind { SHARE_WRAP, SHARE_FORK, SHARE_EXEC, SHARE_EXIT, SHARE_REMARK };

/* What a user has to be told of a program, once each. */
enum remark_kind {
	REMARK_LET_GO,     /* it needs ptrace for itself and was let go */
	REMARK_TRACER,     /* it uses ptrace, which is refused to it */
	REMARK_UNREADABLE, /* perhaps so, its file tells nothing */
	REMARK_SETUID,     /* it ran without the privilege of its file */
};

struct share_fork {
	struct fork_record r;
	int64_t cpu_before_ns; /* of one that was there before */
};

struct share_remark {
	enum remark_kind kind;
	struct process_key key;
	int32_t pid;
	char name[64];
};

/* What the tracer knows beside the totals. */
struct share_totals {
	struct totals totals;
	uint64_t stops; /* of all threads, and how long they waited in them to go on */
	int64_t stopped_ns;
	uint64_t missed;    /* processes that ended while the tree was taken in */
	uint64_t unseen;    /* ends of processes whose memory was not seen at the end */
	uint64_t unread;    /* ends without the kernel's counters */
	uint64_t unwritten; /* records of forks and execs for which there was no room */
	uint64_t unbounded; /* address spaces of unknown size: no upper bound */
	uint64_t untracked; /* processes or threads without memory to follow them */
};

struct share {
	_Atomic int32_t opened;   /* 0 not yet, 1 the tracer is at work, or -errno */
	_Atomic uint32_t finish;  /* the session asks for the end: 1, 2 where the root has ended */
	_Atomic uint32_t idle;    /* the reader sleeps until it is woken */
	_Atomic uint32_t version; /* of @told: odd while it is being written */
	struct share_totals told;
	_Atomic uint64_t head, tail; /* bytes ever written and read */
	size_t size;                 /* of the ring, a power of two */
	int wake_fd;
	_Alignas(8) unsigned char ring[];
};

/* With a descriptor to wake the reader by; NULL: errno says why. */
struct share *share_open(size_t ring_bytes);
void share_close(struct share *s); /* NULL is fine */

/* The writer's.  False: no room. */
bool share_put(struct share *s, enum share_kind kind, const void *head, size_t head_len,
	       const void *more, size_t more_len);
/* The reader takes what is there soon, asleep or not. */
void share_hurry(struct share *s);
void share_tell(struct share *s, const struct share_totals *t);

/* The reader's: the oldest record, NULL for none; it stays until share_drop. */
const void *share_look(struct share *s, enum share_kind *ret_kind, size_t *ret_len);
void share_drop(struct share *s);
void share_totals_read(struct share *s, struct share_totals *ret);
/* Its descriptor is not readable any more, until the next wake. */
void share_woken(struct share *s);
/* Nothing came for a while: the next record wakes.  False: one is there already. */
bool share_sleep(struct share *s);

#endif /* SOURCE_PTRACE_SHARE_H */
