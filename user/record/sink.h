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

#include "record/table.h"
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
};

/* By the scheme of @url.  *@ret: to be closed, also after an error where it is not NULL. */
int sink_open(const struct url *url, struct sink **ret);
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

#endif /* RECORD_SINK_H */
