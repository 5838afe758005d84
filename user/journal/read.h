/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read - a journal folded into the model again, also one that was cut off (INTERFACE 4)
 *
 * Memory does not grow with the number of rows.  A line that is no good is left out and counted;
 * the rest is read.
 */
#ifndef JOURNAL_READ_H
#define JOURNAL_READ_H

#include <stdio.h>

#include "journal/read_lines.h"
#include "model/run.h"
#include "model/curve.h"

#define JOURNAL_FAULTS_MAX 20

struct journal_fault {
	unsigned long long line;
	struct why why;
};

struct journal_read {
	struct summary *summary;     /* NULL: nothing of a journal was found; owned */
	bool empty;                  /* the file was */
	unsigned long long lines;    /* that were read, with the last half one */
	unsigned long long n_faults; /* of them malformed */
	struct journal_fault faults[JOURNAL_FAULTS_MAX]; /* the first of these */
};

/*
 * Reads to the end of @in; rows in the summary stand by @sort.  0, -ENOMEM or -errno of reading;
 * free @ret->summary in any case.
 */
int journal_read(FILE *in, enum top_order sort, struct journal_read *ret);

/* Who sees lines as they are read; each may be NULL, and ends the reading with -errno. */
struct journal_observer {
	void *ctx;
	/* The first line was good: what it told, borrowed. */
	int (*started)(void *ctx, const struct run_facts *run, const struct env *env);
	/* A good "process" line, or a "run_end" of one run of a split tree. */
	int (*line)(void *ctx, const char *event, json_object *o);
};

/* journal_read, with one who looks on. */
int journal_read_observed(FILE *in, enum top_order sort, const struct journal_observer *by,
			  struct journal_read *ret);

/* The rows one by one, from where @in stands: a second look for those that were not kept. */
struct journal_rows;

/* @lines: as many as the first look had.  NULL: out of memory. */
struct journal_rows *journal_rows_new(FILE *in, unsigned long long lines);
/* To be told of each sample of the whole tree between the rows; before the first row. */
typedef void journal_on_sample(void *ctx, const struct curve_point *p);
void journal_rows_samples(struct journal_rows *r, journal_on_sample *on_sample, void *ctx);
/* NULL at the end or after an error; a reference of the caller's. */
struct process *journal_rows_next(struct journal_rows *r);
/* 0 or what went wrong. */
int journal_rows_free(struct journal_rows *r);

#endif /* JOURNAL_READ_H */
