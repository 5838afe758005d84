/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql - the statements of the tables, alike in SQLite and PostgreSQL but for types and parameters
 *
 * Texts are the caller's to free; NULL: out of memory.
 */
#ifndef RECORD_SQL_H
#define RECORD_SQL_H

#include "record/table.h"

#define SQL_VERSION 1 /* of the tables; a database of a later one is not written to */

struct sql_dialect {
	const char *types[COLUMN_JSON + 1];
	const char *key; /* type and constraint of runs.key */
	const char *now; /* the moment of a row's writing */
};

/* Of runs before their columns: id, part, split; of the others run, split, n. */
#define SQL_OWN_COLUMNS 3

char *sql_create(const struct sql_dialect *d, enum table_id table);
/* Parameters ?1, ?2, ... or $1, $2, ... by @mark; an own row of runs that is there is replaced. */
char *sql_insert(enum table_id table, char mark);
/* The own columns and the table's, with commas. */
char *sql_columns(enum table_id table);

#endif /* RECORD_SQL_H */
