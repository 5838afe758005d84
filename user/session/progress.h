/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - what the run is at, while it runs (INTERFACE 1)
 *
 * At a terminal it has the last row for itself: the rows above scroll without it, so that nothing
 * of the command's ever stands on the same row, and it is gone at the end.  While a program takes
 * the terminal's keys one by one (an editor, a pager), or is in front of us, nothing is written.
 * Elsewhere it is lines, ever further apart.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

#include "config.h"
#include "model/record.h"

enum progress_kind { PROGRESS_NONE, PROGRESS_ROW, PROGRESS_LINES };

/* What is told; UNKNOWN and -1 are left out. */
struct progress_facts {
	int64_t elapsed_ns;
	int64_t rss_bytes, peak_bytes; /* now, and the most so far */
	double cpus;
	int64_t processes;
};

struct progress {
	enum progress_kind kind;
	int fd; /* -1: none */
	bool shown;
	int rows;          /* of the terminal as it was when the row was taken */
	int64_t next_ns;   /* since the run's start */
	int64_t rss_bytes; /* at the last sample */
	char newest[EM_COMM_LEN];
	long repeat, repeats; /* which of how many runs; 0: one alone */
};

void progress_open(struct progress *p, const struct config *c);
/* It is run @repeat of @repeats. */
void progress_repeat(struct progress *p, long repeat, long repeats);
/* A program was executed. */
void progress_newest(struct progress *p, const char comm[EM_COMM_LEN]);
void progress_on_sample(struct progress *p, const struct tree_sample *s);
/* When it wants to be told again, since the run's start; INT64_MAX: never. */
int64_t progress_next_ns(const struct progress *p);
void progress_tell(struct progress *p, const struct progress_facts *f);
/* Gives the row back: before we stop, and before the report. */
void progress_hide(struct progress *p);
void progress_close(struct progress *p);

/* The line, cut to @cap; "" never. */
void progress_text(const struct progress *p, const struct progress_facts *f, char *buf, size_t cap);

#endif /* PROGRESS_H */
