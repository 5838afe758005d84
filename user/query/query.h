/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query - questions to a database that runs were recorded in (exitmeter-record)
 *
 * Statements are alike for SQLite and PostgreSQL: parameters are ?1, ?2, ..., and what the two say
 * differently is asked of the query.  Functions that return int return 0 or -errno, and then
 * query_why says what happened in one line.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdbool.h>

#include "url.h"

struct query;

/* *@ret: to be closed, also after an error where it is not NULL. */
int query_open(const struct url *url, struct query **ret);
void query_close(struct query *q); /* NULL is fine */
const char *query_why(const struct query *q);

/* An expression: seconds since the epoch of a column that holds a moment. */
const char *query_epoch(const struct query *q, const char *column, char *buf, unsigned long cap);

/*
 * Hands each row to @row: texts, NULL for what is not known; what it returns ends it where it is
 * not 0.  @values: @n of them.
 */
int query_each(struct query *q, const char *sql, int n, const char *const *values,
	       int (*row)(void *ctx, const char *const *cells), void *ctx);

#endif /* QUERY_H */
