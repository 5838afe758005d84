/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace_reading - what /proc, the process clock and rusage say of a process that is stopped
 * or has just ended, and the record made of it
 */
#ifndef SOURCE_PTRACE_READING_H
#define SOURCE_PTRACE_READING_H

#include <sys/resource.h>

#include "capture/source_ptrace_tree.h"

/* What holds for all readings of a run. */
struct reader {
	int64_t tick_ns, page_bytes;
	int64_t slack_bytes;        /* what the kernel's marks may be off by, all CPUs */
	int64_t thread_slack_bytes; /* for each thread, where threads count for themselves */
	bool status_exact;          /* VmRSS is what the page tables hold */
};

struct reader reader_open(void);

/* 0 or -errno; of an address space that is there. */
int reading_take(const struct reader *r, pid_t tid, struct reading *ret);
/* What the mark of @m may be off by. */
int64_t reading_slack(const struct reader *r, const struct member *m);

/* The counters of one that is attached to, @tid a thread of it that lives. */
void reading_before(const struct reader *r, struct member *m, pid_t tid);
/* The counters of a thread, not the leader, that has ended and was not waited for yet. */
void reading_of_thread(struct member *m, pid_t tid);

/*
 * The I/O of one that is on its way out: later a kernel may not show it any more to who is not
 * privileged.
 */
void reading_io(struct member *m, pid_t tid);

/*
 * The row: of one that ended, @ru its rusage before it is waited for; or of a living one, @ru NULL.
 * False: its counters could not be read.
 */
bool reading_record(const struct reader *r, const struct member *m, const struct rusage *ru,
		    struct exit_record *ret);

#endif /* SOURCE_PTRACE_READING_H */
