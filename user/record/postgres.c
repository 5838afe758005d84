// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * postgres - runs in a PostgreSQL database: rows by COPY, what is looked up by parameters
 *
 * Passwords are libpq's business: PGPASSFILE, a service file, the environment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "record/pq.h"
#include "record/sink.h"
#include "record/sql.h"

#define CHUNK (64 << 10)

/* Who writes: two recorders never make the tables at the same time. */
#define MIGRATION_LOCK "SELECT pg_advisory_xact_lock(hashtext('exitmeter tables'))"
#define VERSION_TABLE  "exitmeter_version"

static const struct sql_dialect dialect = {
	.types = { [COLUMN_INT] = "bigint",
		   [COLUMN_DOUBLE] = "double precision",
		   [COLUMN_BOOL] = "boolean",
		   [COLUMN_TEXT] = "text",
		   [COLUMN_TIME] = "timestamptz",
		   [COLUMN_JSON] = "jsonb" },
	.key = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
	.now = "timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP",
};

struct postgres_sink {
	struct sink sink;
	PGconn *db;
	char *insert_run, *columns[TABLES];
	char *id, *part;
	int64_t key;
	int64_t n[TABLES];
	int64_t lines_before;
	bool whole_before;
	bool copying; /* into @into */
	enum table_id into;
	char *buf; /* rows on their way, CHUNK and what the last one needs beyond it */
	size_t len, cap;
};

static struct postgres_sink *of(struct sink *s)
{
	return (struct postgres_sink *)s;
}

static int fail(struct postgres_sink *s, PGresult *r)
{
	const char *why = r ? PQresultErrorMessage(r) : "";
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	int err = state && !strcmp(state, "42P01")   ? -ENOENT
		  : PQstatus(s->db) != CONNECTION_OK ? -ENOTCONN
						     : -EIO;

	sink_fail(&s->sink, err, "%s", *why ? why : PQerrorMessage(s->db));
	PQclear(r);
	return err;
}

/* *@ret: the result, to be cleared; NULL where nobody wants it. */
static int query(struct postgres_sink *s, const char *sql, int n, const char *const *values,
		 PGresult **ret)
{
	PGresult *r = PQexecParams(s->db, sql, n, NULL, values, NULL, NULL, 0);
	ExecStatusType status = PQresultStatus(r);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
		return fail(s, r);
	if (ret)
		*ret = r;
	else
		PQclear(r);
	return 0;
}

static int execute(struct postgres_sink *s, const char *sql)
{
	return query(s, sql, 0, NULL, NULL);
}

/*
 * A scan, where to_regclass() goes on saying for the rest of a transaction that there is none,
 * having said so once.
 */
#define FIND_VERSION_TABLE                                                                  \
	"SELECT count(*) > 0 FROM pg_catalog.pg_class WHERE relname = '" VERSION_TABLE "' " \
	"AND pg_catalog.pg_table_is_visible(oid)"

/* 0: there are none yet. */
static int read_version(struct postgres_sink *s, int *ret)
{
	PGresult *r = NULL;
	int err = query(s, FIND_VERSION_TABLE, 0, NULL, &r);
	bool there;

	*ret = 0;
	if (err)
		return err;
	there = !strcmp(PQgetvalue(r, 0, 0), "t");
	PQclear(r);
	if (!there)
		return 0;
	err = query(s, "SELECT coalesce(max(version), 0) FROM " VERSION_TABLE, 0, NULL, &r);
	if (err)
		return err;
	*ret = atoi(PQgetvalue(r, 0, 0));
	PQclear(r);
	return 0;
}

static int make_tables(struct postgres_sink *s)
{
	int err = execute(s, "CREATE TABLE " VERSION_TABLE " (version integer NOT NULL)");

	for (int i = 0; !err && i < TABLES; i++) {
		char *sql = sql_create(&dialect, (enum table_id)i);

		err = sql ? execute(s, sql) : sink_fail(&s->sink, -ENOMEM, "out of memory");
		free(sql);
	}
	if (!err)
		err = execute(s, "CREATE INDEX runs_started_at ON runs (started_at)");
	if (!err)
		err = execute(s, "CREATE INDEX processes_comm ON processes (comm)");
	return err ? err : execute(s, "INSERT INTO " VERSION_TABLE " VALUES (1)");
}

static int migrate(struct postgres_sink *s)
{
	int version, err = read_version(s, &version);

	if (!err && version > SQL_VERSION)
		return sink_fail(&s->sink, -EPROTO,
				 "its tables are of version %d, this exitmeter knows %d", version,
				 SQL_VERSION);
	if (err || version == SQL_VERSION)
		return err;
	err = execute(s, "BEGIN");
	if (!err)
		err = execute(s, MIGRATION_LOCK);
	/* Another may have made them meanwhile. */
	if (!err)
		err = read_version(s, &version);
	if (!err && !version)
		err = make_tables(s);
	if (!err)
		return execute(s, "COMMIT");
	PQclear(PQexec(s->db, "ROLLBACK"));
	return err;
}

static void forget_part(struct postgres_sink *s)
{
	free(s->id);
	free(s->part);
	s->id = s->part = NULL;
}

/* --- cells --------------------------------------------------------------------------------- */

/* A number or a truth as PostgreSQL reads it; texts as they are. */
static const char *cell_text(const struct cell *c, char buf[EM_NUMBER_MAX])
{
	if (c->null)
		return NULL;
	switch (c->type) {
	case COLUMN_INT:
		snprintf(buf, EM_NUMBER_MAX, "%" PRId64, c->i);
		return buf;
	case COLUMN_BOOL:
		return c->i ? "t" : "f";
	case COLUMN_DOUBLE:
		buf[em_double_text(c->d, buf)] = '\0';
		return buf;
	case COLUMN_TEXT:
	case COLUMN_TIME:
	case COLUMN_JSON:
	default:
		return c->text;
	}
}

static int put(struct postgres_sink *s, const char *text, size_t len)
{
	size_t cap = s->cap ? s->cap : 2 * (size_t)CHUNK;
	char *buf;

	while (cap - s->len < len)
		cap *= 2;
	if (cap > s->cap) {
		buf = realloc(s->buf, cap);
		if (!buf)
			return sink_fail(&s->sink, -ENOMEM, "out of memory");
		s->buf = buf;
		s->cap = cap;
	}
	memcpy(s->buf + s->len, text, len);
	s->len += len;
	return 0;
}

/* COPY's own escapes: of what ends a column or a row, and of what escapes. */
static int put_escaped(struct postgres_sink *s, const char *text)
{
	int err = 0;

	while (!err && *text) {
		size_t plain = strcspn(text, "\\\b\f\n\r\t\v");

		err = put(s, text, plain);
		text += plain;
		if (!err && *text) {
			static const char from[] = "\b\f\n\r\t\v", to[] = "bfnrtv";
			const char *p = strchr(from, *text);
			const char escape[] = { '\\', p ? to[p - from] : *text };

			err = put(s, escape, sizeof(escape));
			text++;
		}
	}
	return err;
}

static int flush(struct postgres_sink *s)
{
	int err = PQputCopyData(s->db, s->buf, (int)s->len) == 1 ? 0 : fail(s, NULL);

	s->len = 0;
	return err;
}

static int copy_end(struct postgres_sink *s)
{
	PGresult *r = NULL;
	int err;

	if (!s->copying)
		return 0;
	err = s->len ? flush(s) : 0;
	s->copying = false;
	if (!err && PQputCopyEnd(s->db, NULL) != 1)
		err = fail(s, NULL);
	while ((r = PQgetResult(s->db))) {
		if (!err && PQresultStatus(r) != PGRES_COMMAND_OK)
			err = fail(s, r);
		else
			PQclear(r);
	}
	return err;
}

static int copy_begin(struct postgres_sink *s, enum table_id table)
{
	char *sql = NULL;
	int err;

	if (s->copying && s->into == table)
		return 0;
	err = copy_end(s);
	if (err)
		return err;
	if (asprintf(&sql, "COPY %s (%s) FROM STDIN", tables[table].name, s->columns[table]) < 0)
		return sink_fail(&s->sink, -ENOMEM, "out of memory");
	err = execute(s, sql);
	free(sql);
	s->copying = !err;
	s->into = table;
	return err;
}

/* --- the sink ------------------------------------------------------------------------------ */

static int find_run(struct postgres_sink *s)
{
	const char *const values[] = { s->id, s->part };
	PGresult *r = NULL;
	/* Locks the row: two recorders of the same journal come one after the other. */
	int err = query(s,
			"INSERT INTO runs (id, part, split) VALUES ($1, $2, 0) "
			"ON CONFLICT (id, part, split) DO UPDATE SET id = excluded.id "
			"RETURNING key, coalesce(lines, 0), coalesce(cut_off, true)",
			2, values, &r);

	if (err)
		return err;
	s->key = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
	s->lines_before = strtoll(PQgetvalue(r, 0, 1), NULL, 10);
	s->whole_before = !strcmp(PQgetvalue(r, 0, 2), "f");
	PQclear(r);
	return 0;
}

static int clear(struct postgres_sink *s)
{
	char key[24];
	const char *const values[] = { key };
	int err = 0;

	snprintf(key, sizeof(key), "%" PRId64, s->key);
	for (int i = TABLE_ENV; !err && i < TABLES; i++) {
		char sql[96];

		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE run = $1", tables[i].name);
		err = query(s, sql, 1, values, NULL);
	}
	return err;
}

static void postgres_rollback(struct sink *sink)
{
	struct postgres_sink *s = of(sink);
	PGresult *r = NULL;

	if (s->copying) {
		PQputCopyEnd(s->db, "given up");
		while ((r = PQgetResult(s->db)))
			PQclear(r);
	}
	s->copying = false;
	s->len = 0;
	PQclear(PQexec(s->db, "ROLLBACK"));
}

static int postgres_begin(struct sink *sink, const struct part *p)
{
	struct postgres_sink *s = of(sink);
	int err;

	forget_part(s);
	s->id = strdup(p->id);
	s->part = strdup(p->part);
	if (!s->id || !s->part)
		return sink_fail(sink, -ENOMEM, "out of memory");
	memset(s->n, 0, sizeof(s->n));
	err = execute(s, "BEGIN");
	if (err)
		return err;
	err = find_run(s);
	if (!err)
		err = clear(s);
	if (err)
		PQclear(PQexec(s->db, "ROLLBACK"));
	return err;
}

static int put_run(struct postgres_sink *s, int64_t split, const struct row *r)
{
	char numbers[COLUMNS_MAX][EM_NUMBER_MAX], split_text[24];
	const char *values[SQL_OWN_COLUMNS + COLUMNS_MAX] = { s->id, s->part, split_text };
	size_t n = tables[TABLE_RUNS].n;
	int err = copy_end(s);

	if (err)
		return err;
	snprintf(split_text, sizeof(split_text), "%" PRId64, split);
	for (size_t i = 0; i < n; i++)
		values[SQL_OWN_COLUMNS + i] = cell_text(&r->cells[i], numbers[i]);
	return query(s, s->insert_run, (int)(SQL_OWN_COLUMNS + n), values, NULL);
}

static int postgres_row(struct sink *sink, enum table_id table, int64_t split, const struct row *r)
{
	struct postgres_sink *s = of(sink);
	char text[80];
	int err;

	if (table == TABLE_RUNS)
		return put_run(s, split, r);
	err = copy_begin(s, table);
	snprintf(text, sizeof(text), "%" PRId64 "\t%" PRId64 "\t%" PRId64, s->key, split,
		 ++s->n[table]);
	if (!err)
		err = put(s, text, strlen(text));
	for (size_t i = 0; !err && i < tables[table].n; i++) {
		char number[EM_NUMBER_MAX];
		const char *value = cell_text(&r->cells[i], number);

		err = put(s, "\t", 1);
		if (!err)
			err = value ? put_escaped(s, value) : put(s, "\\N", 2);
	}
	if (!err)
		err = put(s, "\n", 1);
	return !err && s->len >= CHUNK ? flush(s) : err;
}

static int postgres_commit(struct sink *sink, int64_t lines, bool whole)
{
	struct postgres_sink *s = of(sink);
	int err = copy_end(s);

	if (err)
		return err;
	if (s->lines_before > lines || (s->whole_before && !whole)) {
		postgres_rollback(sink);
		return 0;
	}
	return execute(s, "COMMIT");
}

static void postgres_close(struct sink *sink)
{
	struct postgres_sink *s = of(sink);

	PQfinish(s->db);
	forget_part(s);
	free(s->insert_run);
	for (int i = 0; i < TABLES; i++)
		free(s->columns[i]);
	free(s->buf);
	free(s);
}

static const struct sink_ops ops = {
	.begin = postgres_begin,
	.row = postgres_row,
	.commit = postgres_commit,
	.rollback = postgres_rollback,
	.close = postgres_close,
};

int postgres_sink_open(const struct url *url, struct sink **ret)
{
	struct postgres_sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->sink.ops = &ops;
	*ret = &s->sink;
	s->insert_run = sql_insert(TABLE_RUNS, '$');
	for (int i = 0; i < TABLES; i++) {
		s->columns[i] = sql_columns((enum table_id)i);
		if (!s->columns[i] || !s->insert_run)
			return sink_fail(&s->sink, -ENOMEM, "out of memory");
	}
	err = pq_connect(&s->sink, url, &s->db);
	if (!err)
		err = execute(s, "SET lock_timeout = '10s'");
	return err ? err : migrate(s);
}
