/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink - a database or engine that runs are written to
 *
 * A journal is written between sink_begin and sink_commit, all of it or nothing: what an earlier
 * writing of the same journal left is replaced, so that writing twice is harmless.  Every function
 * returns 0 or -errno, and then sink->why says what happened in one line, without secrets.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include "record/ended.h"
#include "record/table.h"
#include "scheduler.h"
#include "url.h"

#define SINK_WHY_MAX 400

/* Which journal it is: the same on every reading of it. */
struct part {
	const char
		*id; /* of the run: chosen by whoever started it; several journals may share it */
	const char *part; /* host, process and moment of its start */
};

struct sink {
	const struct sink_ops *ops;
	char why[SINK_WHY_MAX];
};

struct sink_ops {
	int (*begin)(struct sink *s, const struct part *p);
	int (*row)(struct sink *s, enum table_id table, int64_t split, const struct row *r);
	/*
	 * @lines: that this reading had, @whole: with its end.  What is there stays where it had
	 * more of the journal.
	 */
	int (*commit)(struct sink *s, int64_t lines, bool whole);
	void (*rollback)(struct sink *s);
	void (*close)(struct sink *s);
	/*
	 * Of sinks that take processes that ended instead of journals, which have no begin, row,
	 * commit and rollback: how many attempts were written.  0; -ENXIO: nothing of it can be
	 * there; -EINVAL: it is refused as it is; -errno: it is to be tried again.
	 */
	int (*ended)(struct sink *s, const struct ended *x, int64_t *ret_written);
};

/*
 * By the scheme of @url, and whether attempts are asked for; @scheduler outlives it.  *@ret: to be
 * closed, also after an error where it is not NULL.
 */
int sink_open(const struct url *url, const struct scheduler *scheduler, struct sink **ret);
/* Whether it takes processes that ended. */
bool sink_takes_ended(const struct sink *s);
int sink_ended(struct sink *s, const struct ended *x, int64_t *ret_written);
int sink_begin(struct sink *s, const struct part *p);
int sink_row(struct sink *s, enum table_id table, int64_t split, const struct row *r);
int sink_commit(struct sink *s, int64_t lines, bool whole);
void sink_rollback(struct sink *s);
void sink_close(struct sink *s); /* NULL is fine */

/* @err, with its reason; control characters of others' words are escaped, one line is kept. */
int sink_fail(struct sink *s, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As sink_open. */
int sqlite_sink_open(const struct url *url, struct sink **ret);
int postgres_sink_open(const struct url *url, struct sink **ret);
int clickhouse_sink_open(const struct url *url, struct sink **ret);
int http_sink_open(const struct url *url, struct sink **ret);
/* A scheduler's own tables; those of runs are neither read nor made there. */
int attempts_sqlite_open(const struct url *url, const struct scheduler *scheduler,
			 struct sink **ret);
int attempts_postgres_open(const struct url *url, const struct scheduler *scheduler,
			   struct sink **ret);

#endif /* RECORD_SINK_H */
