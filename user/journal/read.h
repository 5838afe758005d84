/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read - a journal folded into the model again, also one that was cut off (INTERFACE 4)
 *
 * It holds the runs of exitmeter -r, or several journals one behind the other: each run begins with
 * its run_start, and is read by itself.  Memory does not grow with the number of rows.  A line that
 * is no good is left out and counted; the rest is read.
 */
#ifndef JOURNAL_READ_H
#define JOURNAL_READ_H

#include <stdio.h>

#include "journal/read_lines.h"
#include "model/run.h"
#include "model/curve.h"

#define JOURNAL_FAULTS_MAX 20

struct journal_fault {
	unsigned long long line; /* of the file */
	struct why why;
};

/* One run of it. */
struct journal_read {
	struct summary *summary;     /* NULL: nothing of a journal was found; owned */
	bool empty;                  /* the file was */
	bool more;                   /* another run follows */
	off_t offset;                /* of its first line, from where the file stood */
	unsigned long long lines;    /* that were read, with the last half one */
	unsigned long long n_faults; /* of them malformed */
	struct journal_fault faults[JOURNAL_FAULTS_MAX]; /* the first of these */
};

/* Who sees lines as they are read; each may be NULL, and ends the reading with -errno. */
struct journal_observer {
	void *ctx;
	/* The first line was good: what it told, borrowed. */
	int (*started)(void *ctx, const struct run_facts *run, const struct env *env);
	/* A good "process" or "left_out" line, or a "run_end" of one run of a split tree. */
	int (*line)(void *ctx, const char *event, json_object *o);
};

/* The runs of a journal, one after the other. */
struct journal_runs {
	struct lines lines;
};

/* From where @in stands.  0 or -ENOMEM; journal_runs_close in any case. */
int journal_runs_open(struct journal_runs *r, FILE *in);
/*
 * The next run, which there is the first time and as long as @ret->more; rows in the summary stand
 * by @sort.  0, -ENOMEM, -errno of reading, or what @by said, who may be NULL; free @ret->summary
 * in any case.
 */
int journal_runs_next(struct journal_runs *r, enum top_order sort,
		      const struct journal_observer *by, struct journal_read *ret);
/* How far @in has been read; who reads it meanwhile has to put it back there. */
off_t journal_runs_offset(const struct journal_runs *r);
void journal_runs_close(struct journal_runs *r);

/* The first run alone. */
int journal_read(FILE *in, enum top_order sort, struct journal_read *ret);

/* The rows of a run one by one, from its first line, where @in stands: a second look for those that
 * were not kept. */
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
