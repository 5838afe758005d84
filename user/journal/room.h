/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room - how large the file of the journal may become, and what it has no room for
 *
 * Rows and samples end there; a few samples still come, each after a quarter more of the run's
 * time, so that its course is seen.  What tells results is written in any case: phases, attempts,
 * ends and the summary, and before that one the rows that it lists.
 */
#ifndef JOURNAL_ROOM_H
#define JOURNAL_ROOM_H

#include "model/summary.h"

/* Of the file, for all runs in it. */
struct room {
	int64_t most_bytes; /* 0: no limit */
	int64_t used_bytes;
	bool full; /* it stays so */
};

/* Of one run. */
struct room_run {
	struct left_out left_out;
	int64_t next_ns; /* when a sample is written again */
};

enum room_line { ROOM_RESULT, ROOM_ROW, ROOM_SAMPLE };

void room_run_init(struct room_run *r);
/* Whether a line of @len bytes goes into the file, which is counted then.  @t_ns: its time. */
bool room_takes(struct room *of, struct room_run *r, enum room_line kind, size_t len, int64_t t_ns);
/* A row that was not taken: it is counted, or comes after all at the end of the run. */
void room_row_out(struct room_run *r, const struct process *p);
void room_row_again(struct room_run *r, const struct process *p);

#endif /* JOURNAL_ROOM_H */
