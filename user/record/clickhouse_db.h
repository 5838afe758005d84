/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clickhouse_db - a database of ClickHouse's behind its HTTP interface, and our tables there
 *
 * User and password travel in a header.  Functions return 0 or -errno, and then @db->sink->why
 * says what happened.
 */
#ifndef RECORD_CLICKHOUSE_DB_H
#define RECORD_CLICKHOUSE_DB_H

#include <stddef.h>

#include "record/client.h"
#include "record/sink.h"

struct clickhouse_db {
	struct client http; /* .answer: of the last statement */
	struct sink *sink;  /* that it works for */
	char *base;         /* URL of the database */
	struct curl_slist *headers;
};

/* @url: http(s)://HOST[:PORT]/DATABASE[?user=NAME].  To be closed, also after an error. */
int clickhouse_open(struct clickhouse_db *db, struct sink *sink, const char *url);
void clickhouse_close(struct clickhouse_db *db);

/* Makes our tables where there are none; refuses later ones, and others' of the same names. */
int clickhouse_migrate(struct clickhouse_db *db);

int clickhouse_execute(struct clickhouse_db *db, const char *sql);
/*
 * The same, where @sql may speak of a table "journal (run_id String, part String)", whose rows are
 * the @len bytes of @rows, JSON a line: names of others' are never in the statement itself.
 */
int clickhouse_ask(struct clickhouse_db *db, const char *sql, const char *rows, size_t len);
/* Rows as JSON, one a line. */
int clickhouse_insert(struct clickhouse_db *db, enum table_id table, const char *rows, size_t len);

#endif /* RECORD_CLICKHOUSE_DB_H */
