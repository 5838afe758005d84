// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clickhouse - runs in ClickHouse, which has no transactions
 *
 * A row that is there once more replaces the one of a lower version, and the version of a journal
 * is how much of it was read: whoever writes when, the longer reading stays.  Rows wait in files
 * without names until the whole journal was read; the one of runs goes last, so that a run that is
 * there is whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "record/clickhouse_db.h"
#include "record/sink.h"

#define BATCH_BYTES (1 << 20)
#define TIME_LEN    (sizeof("2026-11-30 01:21:27") - 1) /* what DateTime holds */

struct clickhouse_sink {
	struct sink sink;
	struct clickhouse_db db;
	FILE *rows[TABLES]; /* a row a line, without the brace it begins with */
	struct json key;    /* run_id and part, as members */
	struct json json;   /* a row, or a batch */
	char *line;
	size_t line_cap;
	int64_t n[TABLES];
	uint64_t version_before; /* 0: nothing is there */
	bool settled;            /* all of it is there */
};

static struct clickhouse_sink *of(struct sink *s)
{
	return (struct clickhouse_sink *)s;
}

static int no_memory(struct clickhouse_sink *s)
{
	return sink_fail(&s->sink, -ENOMEM, "out of memory");
}

static int no_room(struct clickhouse_sink *s, int err)
{
	if (!err)
		err = -EIO;
	return sink_fail(&s->sink, err, "a file for rows on their way: %s", strerror(-err));
}

/* --- what is there ------------------------------------------------------------------------- */

/* How much of a journal it is; odd: with its end. */
static uint64_t version_of(int64_t lines, bool whole)
{
	return (uint64_t)lines * 2 + whole;
}

/* @sql is about the rows of this journal: a line of two numbers, or of nothing. */
static int ask(struct clickhouse_sink *s, const char *sql, uint64_t *ret_a, uint64_t *ret_b)
{
	uint64_t a = 0, b = 0;
	int err;

	json_reset(&s->json);
	json_open(&s->json);
	json_raw(&s->json, s->key.buf, s->key.len);
	json_close(&s->json);
	if (s->json.err)
		return no_memory(s);
	err = clickhouse_ask(&s->db, sql, s->json.buf, s->json.len);
	if (err)
		return err;
	if (*s->db.http.answer && sscanf(s->db.http.answer, "%" SCNu64 "\t%" SCNu64, &a, &b) != 2)
		return sink_fail(&s->sink, -EPROTO, "an answer that was not expected");
	*ret_a = a;
	*ret_b = b;
	return 0;
}

/* An earlier, shorter reading may have left more of the rows that are made at the end. */
static int remove_older(struct clickhouse_sink *s, enum table_id table, uint64_t version)
{
	uint64_t hash = 0, older = 0;
	char sql[256];
	int err;

	snprintf(sql, sizeof(sql),
		 "SELECT any(cityHash64(run_id, part)), count() FROM %s WHERE (run_id, part) IN "
		 "journal AND version < %" PRIu64,
		 tables[table].name, version);
	err = ask(s, sql, &hash, &older);
	if (err || !older)
		return err;
	snprintf(sql, sizeof(sql),
		 "ALTER TABLE %s DELETE WHERE cityHash64(run_id, part) = %" PRIu64
		 " AND version < %" PRIu64,
		 tables[table].name, hash, version);
	return clickhouse_execute(&s->db, sql);
}

/* --- rows ---------------------------------------------------------------------------------- */

static void put_cell(struct json *j, const struct column *column, const struct cell *c)
{
	char time[TIME_LEN];

	json_key(j, column->name);
	switch (c->type) {
	case COLUMN_INT:
	case COLUMN_BOOL:
		json_int(j, c->i);
		break;
	case COLUMN_DOUBLE:
		json_double(j, c->d);
		break;
	case COLUMN_TIME:
		/* Without its fraction and zone, which is UTC. */
		memset(time, '0', sizeof(time));
		memcpy(time, c->text, c->len < TIME_LEN ? c->len : TIME_LEN);
		time[10] = ' ';
		json_string(j, time, sizeof(time));
		break;
	case COLUMN_TEXT:
	case COLUMN_JSON:
	default:
		json_string(j, c->text, c->len);
	}
}

/* What is null is left out. */
static int clickhouse_row(struct sink *sink, enum table_id table, int64_t split,
			  const struct row *r)
{
	struct clickhouse_sink *s = of(sink);
	struct json *j = &s->json;
	int err = 0;

	if (s->settled)
		return 0;
	json_reset(j);
	json_open(j);
	json_raw(j, s->key.buf, s->key.len);
	json_key(j, "split");
	json_int(j, split);
	if (table != TABLE_RUNS) {
		json_key(j, "n");
		json_int(j, ++s->n[table]);
	}
	for (size_t i = 0; i < tables[table].n; i++)
		if (!r->cells[i].null)
			put_cell(j, &tables[table].columns[i], &r->cells[i]);
	json_close(j);
	json_newline(j);
	if (j->err)
		return no_memory(s);
	if (!s->rows[table])
		err = temporary_open(&s->rows[table]);
	if (err)
		return no_room(s, err);
	errno = 0;
	return fwrite(j->buf + 1, j->len - 1, 1, s->rows[table]) == 1 ? 0 : no_room(s, -errno);
}

/* The rows of @table, with @version in each, some at a time. */
static int send_rows(struct clickhouse_sink *s, enum table_id table, uint64_t version)
{
	struct json *batch = &s->json;
	FILE *f = s->rows[table];
	int err = 0;

	if (!f)
		return 0;
	errno = 0;
	if (fflush(f) || fseek(f, 0, SEEK_SET))
		return no_room(s, -errno);
	json_reset(batch);
	while (!err) {
		ssize_t len = getline(&s->line, &s->line_cap, f);

		if (len > 0) {
			json_open(batch);
			json_key(batch, "version");
			json_int(batch, (int64_t)version);
			json_raw(batch, s->line, (size_t)len);
			batch->comma = false;
		}
		if (batch->err)
			return no_memory(s);
		if (batch->len && (len <= 0 || batch->len >= BATCH_BYTES)) {
			err = clickhouse_insert(&s->db, table, batch->buf, batch->len);
			json_reset(batch);
		}
		if (len <= 0)
			break;
	}
	return !err && ferror(f) ? no_room(s, -errno) : err;
}

/* --- the sink ------------------------------------------------------------------------------ */

static void clickhouse_rollback(struct sink *sink)
{
	struct clickhouse_sink *s = of(sink);

	for (int i = 0; i < TABLES; i++) {
		if (s->rows[i])
			fclose(s->rows[i]);
		s->rows[i] = NULL;
	}
}

static int clickhouse_begin(struct sink *sink, const struct part *p)
{
	struct clickhouse_sink *s = of(sink);
	uint64_t rows = 0;
	int err;

	memset(s->n, 0, sizeof(s->n));
	json_reset(&s->key);
	json_key(&s->key, "run_id");
	json_cstring(&s->key, p->id);
	json_key(&s->key, "part");
	json_cstring(&s->key, p->part);
	if (s->key.err)
		return no_memory(s);
	err = ask(s,
		  "SELECT max(version), count() FROM runs "
		  "WHERE (run_id, part) IN journal AND split = 0",
		  &s->version_before, &rows);
	s->settled = !err && s->version_before % 2;
	return err;
}

static int clickhouse_commit(struct sink *sink, int64_t lines, bool whole)
{
	static const enum table_id order[] = { TABLE_ENV, TABLE_PROCESSES, TABLE_MARKS,
					       TABLE_ATTEMPTS };
	static const enum table_id made_at_end[] = { TABLE_MARKS, TABLE_ATTEMPTS };
	struct clickhouse_sink *s = of(sink);
	uint64_t version = version_of(lines, whole);
	int err = 0;

	if (!s->settled && s->version_before < version) {
		for (size_t i = 0; !err && i < sizeof(order) / sizeof(*order); i++)
			err = send_rows(s, order[i], version);
		for (size_t i = 0; !err && i < sizeof(made_at_end) / sizeof(*made_at_end); i++)
			err = remove_older(s, made_at_end[i], version);
		if (!err)
			err = send_rows(s, TABLE_RUNS, version);
	}
	if (!err)
		clickhouse_rollback(sink);
	return err;
}

static void clickhouse_sink_close(struct sink *sink)
{
	struct clickhouse_sink *s = of(sink);

	clickhouse_rollback(sink);
	clickhouse_close(&s->db);
	json_free(&s->key);
	json_free(&s->json);
	free(s->line);
	free(s);
}

static const struct sink_ops ops = {
	.begin = clickhouse_begin,
	.row = clickhouse_row,
	.commit = clickhouse_commit,
	.rollback = clickhouse_rollback,
	.close = clickhouse_sink_close,
};

int clickhouse_sink_open(const struct url *url, struct sink **ret)
{
	struct clickhouse_sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->sink.ops = &ops;
	*ret = &s->sink;
	json_init(&s->key);
	json_init(&s->json);
	err = clickhouse_open(&s->db, &s->sink, url->rest);
	return err ? err : clickhouse_migrate(&s->db);
}
