// SPDX-License-Identifier: GPL-2.0-or-later
#include "query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>
#include <sqlite3.h>

#define WHY_MAX   400
#define CELLS_MAX 32
#define BUSY_MS   5000

struct query {
	sqlite3 *file; /* one of the two */
	PGconn *server;
	char why[WHY_MAX];
};

static int fail(struct query *q, int err, const char *why)
{
	snprintf(q->why, sizeof(q->why), "%s", why);
	q->why[strcspn(q->why, "\n")] = '\0';
	return err;
}

const char *query_why(const struct query *q)
{
	return q ? q->why : "out of memory";
}

/* Only to be read: one that is not there is not made. */
static int open_file(struct query *q, const char *path)
{
	if (sqlite3_open_v2(path, &q->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
		    SQLITE_OK &&
	    (sqlite3_close(q->file),
	     sqlite3_open_v2(path, &q->file, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL)) !=
		    SQLITE_OK)
		return fail(q, -EIO, sqlite3_errmsg(q->file));
	sqlite3_busy_timeout(q->file, BUSY_MS);
	return 0;
}

static int open_server(struct query *q, const char *url)
{
	const char *const names[] = { "connect_timeout", "application_name", "client_encoding",
				      "dbname", NULL };
	const char *const values[] = { "10", "exitmeter", "UTF8", url, NULL };

	q->server = PQconnectdbParams(names, values, 1);
	if (!q->server)
		return fail(q, -ENOMEM, "out of memory");
	return PQstatus(q->server) == CONNECTION_OK ? 0
						    : fail(q, -ENOTCONN, PQerrorMessage(q->server));
}

int query_open(const struct url *url, struct query **ret)
{
	struct query *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	*ret = q;
	switch (url->kind) {
	case URL_SQLITE:
		return open_file(q, url->rest);
	case URL_POSTGRES:
		return open_server(q, url->text);
	default:
		return fail(q, -EINVAL, "only SQLite and PostgreSQL can be asked");
	}
}

void query_close(struct query *q)
{
	if (!q)
		return;
	sqlite3_close(q->file);
	PQfinish(q->server);
	free(q);
}

const char *query_epoch(const struct query *q, const char *column, char *buf, unsigned long cap)
{
	snprintf(buf, cap,
		 q->file ? "((julianday(%s) - 2440587.5) * 86400.0)" : "extract(epoch FROM %s)",
		 column);
	return buf;
}

static int each_of_file(struct query *q, const char *sql, int n, const char *const *values,
			int (*row)(void *ctx, const char *const *cells), void *ctx)
{
	const char *cells[CELLS_MAX];
	sqlite3_stmt *s;
	int step = SQLITE_DONE, err = 0;

	if (sqlite3_prepare_v2(q->file, sql, -1, &s, NULL) != SQLITE_OK)
		return fail(q, -EIO, sqlite3_errmsg(q->file));
	for (int i = 0; i < n; i++)
		sqlite3_bind_text(s, i + 1, values[i], -1, SQLITE_STATIC);
	while (!err && (step = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s) && i < CELLS_MAX; i++)
			cells[i] = (const char *)sqlite3_column_text(s, i);
		err = row(ctx, cells);
	}
	if (!err && step != SQLITE_DONE)
		err = fail(q, -EIO, sqlite3_errmsg(q->file));
	sqlite3_finalize(s);
	return err;
}

/* Row by row: however many there are, one is in memory. */
static int each_of_server(struct query *q, const char *sql, int n, const char *const *values,
			  int (*row)(void *ctx, const char *const *cells), void *ctx)
{
	const char *cells[CELLS_MAX];
	char *text = strdup(sql);
	PGresult *r;
	int err = 0;

	if (!text)
		return fail(q, -ENOMEM, "out of memory");
	for (char *p = text; (p = strchr(p, '?'));)
		*p = '$';
	if (!PQsendQueryParams(q->server, text, n, NULL, values, NULL, NULL, 0) ||
	    !PQsetSingleRowMode(q->server))
		err = fail(q, -EIO, PQerrorMessage(q->server));
	free(text);
	while ((r = PQgetResult(q->server))) {
		ExecStatusType status = PQresultStatus(r);

		if (!err && status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
			err = fail(q, -EIO, PQresultErrorMessage(r));
		for (int k = 0; !err && k < PQntuples(r); k++) {
			for (int i = 0; i < PQnfields(r) && i < CELLS_MAX; i++)
				cells[i] = PQgetisnull(r, k, i) ? NULL : PQgetvalue(r, k, i);
			err = row(ctx, cells);
		}
		PQclear(r);
	}
	return err;
}

int query_each(struct query *q, const char *sql, int n, const char *const *values,
	       int (*row)(void *ctx, const char *const *cells), void *ctx)
{
	int err = q->file ? each_of_file(q, sql, n, values, row, ctx)
			  : each_of_server(q, sql, n, values, row, ctx);

	if (err && !*q->why)
		fail(q, err, strerror(-err));
	return err;
}
