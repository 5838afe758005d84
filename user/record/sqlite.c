// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sqlite - runs in a file of SQLite's, with a write-ahead log so that readers are never in the way
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "record/sink.h"
#include "record/sql.h"
#include "units.h"

#define BUSY_MS      5000
#define BUSY_STEP_MS 10

static const struct sql_dialect dialect = {
	.types = { [COLUMN_INT] = "INTEGER",
		   [COLUMN_DOUBLE] = "REAL",
		   [COLUMN_BOOL] = "INTEGER",
		   [COLUMN_TEXT] = "TEXT",
		   [COLUMN_TIME] = "TEXT",
		   [COLUMN_JSON] = "TEXT" },
	.key = "INTEGER PRIMARY KEY",
	.now = "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
};

struct sqlite_sink {
	struct sink sink;
	sqlite3 *db;
	sqlite3_stmt *inserts[TABLES];
	char *id, *part;
	sqlite3_int64 key;       /* of the journal's row in runs */
	sqlite3_int64 n[TABLES]; /* rows of this journal */
	sqlite3_int64 lines_before;
	bool whole_before;
};

static struct sqlite_sink *of(struct sink *s)
{
	return (struct sqlite_sink *)s;
}

static int fail(struct sqlite_sink *s)
{
	int code = sqlite3_errcode(s->db);
	int err = code == SQLITE_FULL    ? -ENOSPC
		  : code == SQLITE_BUSY  ? -EAGAIN
		  : code == SQLITE_NOMEM ? -ENOMEM
					 : -EIO;

	return sink_fail(&s->sink, err, "%s", sqlite3_errmsg(s->db));
}

static int execute(struct sqlite_sink *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s);
}

/* One row with one integer in each column; -ENOENT: no row. */
static int query_ints(struct sqlite_sink *s, sqlite3_stmt *q, sqlite3_int64 *ret, int n)
{
	int step = sqlite3_step(q);
	int err = step == SQLITE_ROW ? 0 : step == SQLITE_DONE ? -ENOENT : fail(s);

	for (int i = 0; !err && i < n; i++)
		ret[i] = sqlite3_column_int64(q, i);
	sqlite3_reset(q);
	return err;
}

static int query_int(struct sqlite_sink *s, const char *sql, sqlite3_int64 *ret)
{
	sqlite3_stmt *q;
	int err;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return fail(s);
	err = query_ints(s, q, ret, 1);
	sqlite3_finalize(q);
	return err;
}

/* Step by step from the version that is there; each in the transaction that is open. */
static int migrate(struct sqlite_sink *s)
{
	sqlite3_int64 version = 0;
	int err = query_int(s, "PRAGMA user_version", &version);

	if (!err && version > SQL_VERSION)
		return sink_fail(&s->sink, -EPROTO,
				 "its tables are of version %lld, this exitmeter knows %d",
				 (long long)version, SQL_VERSION);
	if (err || version == SQL_VERSION)
		return err;
	for (int i = 0; !err && i < TABLES; i++) {
		char *sql = sql_create(&dialect, (enum table_id)i);

		err = sql ? execute(s, sql) : -ENOMEM;
		free(sql);
	}
	if (!err)
		err = execute(s, "CREATE INDEX runs_started_at ON runs (started_at)");
	if (!err)
		err = execute(s, "CREATE INDEX processes_comm ON processes (comm)");
	return err ? err : execute(s, "PRAGMA user_version = 1");
}

static int prepare(struct sqlite_sink *s)
{
	for (int i = 0; i < TABLES; i++) {
		char *sql = sql_insert((enum table_id)i, '?');
		int code = sql ? sqlite3_prepare_v2(s->db, sql, -1, &s->inserts[i], NULL)
			       : SQLITE_NOMEM;

		free(sql);
		if (code != SQLITE_OK)
			return code == SQLITE_NOMEM ? sink_fail(&s->sink, -ENOMEM, "out of memory")
						    : fail(s);
	}
	return 0;
}

/* For this lock SQLite's own timeout is not heeded. */
static int write_ahead(struct sqlite_sink *s)
{
	const struct timespec pause = { .tv_nsec = BUSY_STEP_MS * NS_PER_MS };
	int err;

	for (int waited = 0;; waited += BUSY_STEP_MS) {
		err = execute(s, "PRAGMA journal_mode = WAL");
		if (err != -EAGAIN || waited >= BUSY_MS)
			return err;
		nanosleep(&pause, NULL);
	}
}

static int set_up(struct sqlite_sink *s)
{
	sqlite3_int64 version = 0;
	int err;

	sqlite3_busy_timeout(s->db, BUSY_MS);
	err = write_ahead(s);
	if (!err)
		err = execute(s, "PRAGMA synchronous = NORMAL");
	if (!err)
		err = execute(s, "PRAGMA foreign_keys = ON");
	if (!err)
		err = query_int(s, "PRAGMA user_version", &version);
	if (err || version == SQL_VERSION)
		return err;
	err = execute(s, "BEGIN IMMEDIATE");
	if (err)
		return err;
	err = migrate(s);
	if (!err)
		return execute(s, "COMMIT");
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

static int row_key(struct sqlite_sink *s, sqlite3_int64 found[3])
{
	sqlite3_stmt *q;
	int err;

	if (sqlite3_prepare_v2(s->db,
			       "SELECT key, coalesce(lines, 0), coalesce(cut_off, 1) FROM runs "
			       "WHERE id = ?1 AND part = ?2 AND split = 0",
			       -1, &q, NULL) != SQLITE_OK)
		return fail(s);
	sqlite3_bind_text(q, 1, s->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, s->part, -1, SQLITE_STATIC);
	err = query_ints(s, q, found, 3);
	sqlite3_finalize(q);
	return err;
}

/* What an earlier writing left, but the row itself, whose key stays. */
static int clear(struct sqlite_sink *s)
{
	for (int i = TABLE_ENV; i < TABLES; i++) {
		char sql[96];
		int err;

		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE run = %lld", tables[i].name,
			 (long long)s->key);
		err = execute(s, sql);
		if (err)
			return err;
	}
	return 0;
}

static int add_run(struct sqlite_sink *s)
{
	sqlite3_stmt *q;
	int err;

	if (sqlite3_prepare_v2(s->db, "INSERT INTO runs (id, part, split) VALUES (?1, ?2, 0)", -1,
			       &q, NULL) != SQLITE_OK)
		return fail(s);
	sqlite3_bind_text(q, 1, s->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, s->part, -1, SQLITE_STATIC);
	err = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s);
	sqlite3_finalize(q);
	s->key = sqlite3_last_insert_rowid(s->db);
	return err;
}

static void forget_part(struct sqlite_sink *s)
{
	free(s->id);
	free(s->part);
	s->id = s->part = NULL;
}

static int sqlite_begin(struct sink *sink, const struct part *p)
{
	struct sqlite_sink *s = of(sink);
	sqlite3_int64 found[3] = { 0 };
	int err;

	forget_part(s);
	s->id = strdup(p->id);
	s->part = strdup(p->part);
	if (!s->id || !s->part)
		return sink_fail(sink, -ENOMEM, "out of memory");
	memset(s->n, 0, sizeof(s->n));
	err = execute(s, "BEGIN IMMEDIATE");
	if (err)
		return err;
	err = row_key(s, found);
	s->lines_before = err ? 0 : found[1];
	s->whole_before = !err && !found[2];
	s->key = found[0];
	if (err == -ENOENT)
		err = add_run(s);
	else if (!err)
		err = clear(s);
	if (err)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

static void bind_cell(sqlite3_stmt *q, int at, const struct cell *c)
{
	if (c->null)
		sqlite3_bind_null(q, at);
	else if (c->type == COLUMN_INT || c->type == COLUMN_BOOL)
		sqlite3_bind_int64(q, at, c->i);
	else if (c->type == COLUMN_DOUBLE)
		sqlite3_bind_double(q, at, c->d);
	else
		sqlite3_bind_text(q, at, c->text, (int)c->len, SQLITE_STATIC);
}

static int sqlite_row(struct sink *sink, enum table_id table, int64_t split, const struct row *r)
{
	struct sqlite_sink *s = of(sink);
	sqlite3_stmt *q = s->inserts[table];
	int err;

	if (table == TABLE_RUNS) {
		sqlite3_bind_text(q, 1, s->id, -1, SQLITE_STATIC);
		sqlite3_bind_text(q, 2, s->part, -1, SQLITE_STATIC);
		sqlite3_bind_int64(q, 3, split);
	} else {
		sqlite3_bind_int64(q, 1, s->key);
		sqlite3_bind_int64(q, 2, split);
		sqlite3_bind_int64(q, 3, ++s->n[table]);
	}
	for (size_t i = 0; i < tables[table].n; i++)
		bind_cell(q, SQL_OWN_COLUMNS + 1 + (int)i, &r->cells[i]);
	err = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s);
	sqlite3_reset(q);
	return err;
}

static void sqlite_rollback(struct sink *sink)
{
	if (!sqlite3_get_autocommit(of(sink)->db))
		sqlite3_exec(of(sink)->db, "ROLLBACK", NULL, NULL, NULL);
}

static int sqlite_commit(struct sink *sink, int64_t lines, bool whole)
{
	struct sqlite_sink *s = of(sink);
	int err;

	if (s->lines_before > lines || (s->whole_before && !whole)) {
		sqlite_rollback(sink);
		return 0;
	}
	err = execute(s, "COMMIT");
	if (err)
		sqlite_rollback(sink);
	return err;
}

static void sqlite_close(struct sink *sink)
{
	struct sqlite_sink *s = of(sink);

	for (int i = 0; i < TABLES; i++)
		sqlite3_finalize(s->inserts[i]);
	sqlite3_close(s->db);
	forget_part(s);
	free(s);
}

static const struct sink_ops ops = {
	.begin = sqlite_begin,
	.row = sqlite_row,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.close = sqlite_close,
};

int sqlite_sink_open(const struct url *url, struct sink **ret)
{
	struct sqlite_sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->sink.ops = &ops;
	*ret = &s->sink;
	if (sqlite3_open_v2(url->rest, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return fail(s);
	err = set_up(s);
	return err ? err : prepare(s);
}
