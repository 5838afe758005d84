/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attempts - record(): each attempt's share of a process's meter, into a scheduler's own tables
 *
 * SPEC 1.12.  What SQLite and PostgreSQL have in common; the drivers find the spans and write the
 * shares.
 */
#ifndef RECORD_ATTEMPTS_H
#define RECORD_ATTEMPTS_H

#include "record/sink.h"
#include "record/statement.h"

#define ATTEMPTS_MAX        100000 /* of one process */
#define ATTEMPTS_TIMEOUT_MS 10000  /* of one statement */
#define ATTEMPTS_LOCK_MS    5000   /* of these for what others hold */

struct attempts {
	struct sink sink;
	const struct attempts_ops *ops;
	/* As they were given, or the defaults; of updates the second is fenced. */
	const char *select_sql, *update_sqls[2];
	struct statement select, updates[2];
	/* Of the process at hand: ages of the database's now; the ids are rows of the answer. */
	struct em_span *spans;
	size_t n_spans, cap;
	int64_t asked_ns; /* our own clock (CLOCK_BOOTTIME) at that now */
};

struct attempts_ops {
	/* Begins a transaction, asks for the spans (attempts_add) and sets @asked_ns. */
	int (*begin)(struct attempts *a, const struct ended *x);
	/* *@ret_written: it was there to be written, and still ours. */
	int (*update)(struct attempts *a, const struct ended *x, int64_t row,
		      const struct em_usage *u, bool *ret_written);
	int (*commit)(struct attempts *a);
	void (*rollback)(struct attempts *a);
	void (*close)(struct attempts *a); /* all but what is here */
};

/* The statements, of @scheduler, which outlives them.  0 or -errno with a reason in @a->sink. */
int attempts_init(struct attempts *a, const struct attempts_ops *ops,
		  const struct scheduler *scheduler, bool sqlite);
/* @started, @ended: seconds before the database's now, NaN unknown: not started, or not ended. */
int attempts_add(struct attempts *a, int64_t row, double started, double ended);
/* What the answer must look like; 0 or -EIO with the reason. */
int attempts_check_columns(struct attempts *a, int n);
int attempts_bad_age(struct attempts *a, const char *text);

#endif /* RECORD_ATTEMPTS_H */
