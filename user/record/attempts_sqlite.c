// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempts_sqlite - a scheduler's own tables in a file of SQLite's
 *
 * The file is the scheduler's: it is not made, and nothing in it is set.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "lib/number.h"
#include "record/attempts.h"
#include "units.h"

struct attempts_sqlite {
	struct attempts attempts;
	sqlite3 *db;
	sqlite3_stmt *select, *updates[2];
	sqlite3_value **ids; /* of the rows, of any type */
	size_t n_ids, cap;
};

static struct attempts_sqlite *of(struct attempts *a)
{
	return (struct attempts_sqlite *)a;
}

static int fail(struct attempts_sqlite *s)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
	int err = code == SQLITE_NOMEM                                   ? -ENOMEM
		  : code == SQLITE_BUSY || code == SQLITE_LOCKED         ? -EAGAIN
		  : code == SQLITE_FULL                                  ? -ENOSPC
		  : code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH ? -EINVAL
									 : -EIO;

	return sink_fail(&s->attempts.sink, err, "%s",
			 s->db ? sqlite3_errmsg(s->db) : "out of memory");
}

static int execute(struct attempts_sqlite *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s);
}

/* --- the process at hand ------------------------------------------------------------------- */

static void forget_ids(struct attempts_sqlite *s)
{
	while (s->n_ids)
		sqlite3_value_free(s->ids[--s->n_ids]);
}

static int keep_id(struct attempts_sqlite *s, sqlite3_value *id)
{
	if (s->n_ids == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 16;
		sqlite3_value **more = reallocarray(s->ids, cap, sizeof(void *));

		if (!more)
			return sink_fail(&s->attempts.sink, -ENOMEM, "out of memory");
		s->ids = more;
		s->cap = cap;
	}
	s->ids[s->n_ids] = sqlite3_value_dup(id);
	if (!s->ids[s->n_ids])
		return sink_fail(&s->attempts.sink, -ENOMEM, "out of memory");
	s->n_ids++;
	return 0;
}

static void bind_double(sqlite3_stmt *q, int at, double v)
{
	if (v >= 0)
		sqlite3_bind_double(q, at, v);
	else
		sqlite3_bind_null(q, at);
}

static void bind(sqlite3_stmt *q, int at, enum parameter p, const struct ended *x,
		 sqlite3_value *id, const struct em_usage *u)
{
	switch (p) {
	case PARAMETER_RUN:
		sqlite3_bind_text(q, at, x->run, -1, SQLITE_STATIC);
		break;
	case PARAMETER_PID:
		sqlite3_bind_int64(q, at, x->pid);
		break;
	case PARAMETER_WORKER:
		sqlite3_bind_int64(q, at, x->worker);
		break;
	case PARAMETER_START:
		sqlite3_bind_int64(q, at, x->start);
		break;
	case PARAMETER_ID:
		sqlite3_bind_value(q, at, id);
		break;
	case PARAMETER_PEAK:
		if (u->peak_rss_bytes >= 0)
			sqlite3_bind_int64(q, at, u->peak_rss_bytes);
		else
			sqlite3_bind_null(q, at);
		break;
	case PARAMETER_CPU:
		bind_double(q, at, u->cpu_seconds);
		break;
	case PARAMETER_CPUS:
		bind_double(q, at, u->peak_cpus);
		break;
	case PARAMETERS:
	default:
		break;
	}
}

static void bind_all(sqlite3_stmt *q, const struct ended *x, sqlite3_value *id,
		     const struct em_usage *u)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(q); i++) {
		const char *name = sqlite3_bind_parameter_name(q, i);

		if (name)
			bind(q, i, parameter_of(name + 1, strlen(name + 1)), x, id, u);
	}
}

/* Not a number, not even as text: an error; NULL: NaN. */
static int age(struct attempts_sqlite *s, int column, double *ret)
{
	const char *text;
	bool integer;
	size_t len;

	*ret = NAN;
	switch (sqlite3_column_type(s->select, column)) {
	case SQLITE_NULL:
		return 0;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		*ret = sqlite3_column_double(s->select, column);
		return 0;
	default:
		text = (const char *)sqlite3_column_text(s->select, column);
		len = text ? strlen(text) : 0;
		if (len && em_number_len(text, len, &integer) == len &&
		    em_number_double(text, len, ret))
			return 0;
		return attempts_bad_age(&s->attempts, text ? text : "");
	}
}

static int take_rows(struct attempts_sqlite *s)
{
	int step, err = 0;

	while (!err && (step = sqlite3_step(s->select)) == SQLITE_ROW) {
		double started, ended;

		err = age(s, 1, &started);
		if (!err)
			err = age(s, 2, &ended);
		if (!err)
			err = keep_id(s, sqlite3_column_value(s->select, 0));
		if (!err)
			err = attempts_add(&s->attempts, (int64_t)s->n_ids - 1, started, ended);
	}
	if (!err && step != SQLITE_DONE)
		err = fail(s);
	sqlite3_reset(s->select);
	return err;
}

static int prepare(struct attempts_sqlite *s, const char *option, const char *sql,
		   sqlite3_stmt **ret)
{
	struct sink *sink = &s->attempts.sink;
	const char *rest;

	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, &rest) != SQLITE_OK)
		return fail(s);
	if (!*ret || rest[strspn(rest, " \t\r\n;")])
		return sink_fail(sink, -EIO, "--%s: one statement is wanted", option);
	for (int i = 1; i <= sqlite3_bind_parameter_count(*ret); i++) {
		const char *name = sqlite3_bind_parameter_name(*ret, i);

		if (!name || *name != ':' || parameter_of(name + 1, strlen(name + 1)) == PARAMETERS)
			return sink_fail(sink, -EIO, "--%s: '%.40s' is no parameter", option,
					 name ? name : "?");
	}
	return 0;
}

/* Prepared when it is first asked for: without a fence there need be no table of starts. */
static int prepare_update(struct attempts_sqlite *s, bool fenced)
{
	sqlite3_stmt **q = &s->updates[fenced];
	int err = *q ? 0 : prepare(s, "update-sql", s->attempts.update_sqls[fenced], q);

	if (!err && sqlite3_stmt_readonly(*q))
		err = sink_fail(&s->attempts.sink, -EIO, "--update-sql: it changes nothing");
	return err;
}

static int sqlite_begin(struct attempts *a, const struct ended *x)
{
	struct attempts_sqlite *s = of(a);
	int err;

	forget_ids(s);
	err = prepare_update(s, x->worker > 0);
	if (!err)
		err = execute(s, "BEGIN IMMEDIATE");
	if (err)
		return err;
	bind_all(s->select, x, NULL, NULL);
	/* 'now' is that of the statement's first step. */
	a->asked_ns = clock_ns(CLOCK_BOOTTIME);
	return take_rows(s);
}

static int sqlite_update(struct attempts *a, const struct ended *x, int64_t row,
			 const struct em_usage *u, bool *ret_written)
{
	struct attempts_sqlite *s = of(a);
	sqlite3_stmt *q = s->updates[x->worker > 0];
	int step;

	bind_all(q, x, s->ids[row], u);
	while ((step = sqlite3_step(q)) == SQLITE_ROW)
		;
	if (step != SQLITE_DONE) {
		int err = fail(s);

		sqlite3_reset(q);
		return err;
	}
	*ret_written = sqlite3_changes(s->db) > 0;
	sqlite3_reset(q);
	return 0;
}

static int sqlite_commit(struct attempts *a)
{
	return execute(of(a), "COMMIT");
}

static void sqlite_rollback(struct attempts *a)
{
	struct attempts_sqlite *s = of(a);

	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* --- open and close ------------------------------------------------------------------------ */

static void sqlite_close(struct attempts *a)
{
	struct attempts_sqlite *s = of(a);

	forget_ids(s);
	free(s->ids);
	sqlite3_finalize(s->select);
	sqlite3_finalize(s->updates[0]);
	sqlite3_finalize(s->updates[1]);
	sqlite3_close(s->db);
}

static const struct attempts_ops ops = {
	.begin = sqlite_begin,
	.update = sqlite_update,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.close = sqlite_close,
};

int attempts_sqlite_open(const struct url *url, const struct scheduler *scheduler,
			 struct sink **ret)
{
	struct attempts_sqlite *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	*ret = &s->attempts.sink;
	err = attempts_init(&s->attempts, &ops, scheduler, true);
	if (err)
		return err;
	if (sqlite3_open_v2(url->rest, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return fail(s);
	sqlite3_busy_timeout(s->db, ATTEMPTS_LOCK_MS);
	err = prepare(s, "select-sql", s->attempts.select_sql, &s->select);
	if (!err)
		err = attempts_check_columns(&s->attempts, sqlite3_column_count(s->select));
	return err ? err : prepare_update(s, scheduler->worker > 0);
}
