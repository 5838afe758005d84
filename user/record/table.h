/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - the tables that databases keep of runs, and their rows out of a journal's objects
 *
 * A column is a place in the JSON of INTERFACE 3 and 4: what is null or missing there is NULL.
 */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

#include "journal/json.h"
#include "journal/read_values.h"

enum column_type {
	COLUMN_INT,    /* 64 bits */
	COLUMN_DOUBLE, /* seconds and cores */
	COLUMN_BOOL,
	COLUMN_TEXT,
	COLUMN_TIME, /* RFC 3339 text */
	COLUMN_JSON,
};

struct column {
	const char *name;
	enum column_type type;
	const char *path; /* names with dots between them, or a number: an element of an array */
};

/* The order of writing: a run's own row is there before those that belong to it are looked at. */
enum table_id { TABLE_RUNS, TABLE_ENV, TABLE_PROCESSES, TABLE_MARKS, TABLE_ATTEMPTS, TABLES };

/*
 * Before the columns named here stand those that say whose row it is: of runs "id", "part" and
 * "split", of env "run", of the others "run", "split" and, counted from 1, "no".
 */
struct table {
	const char *name;
	const struct column *columns;
	size_t n;
};

extern const struct table tables[TABLES];

#define COLUMNS_MAX 72

struct cell {
	enum column_type type;
	bool null;
	int64_t i;
	double d;
	const char *text; /* of texts, times and JSON: valid UTF-8, NUL-terminated */
	size_t len;
	size_t at; /* in the row's buffer */
};

/* The cells of one row and the room for their texts; starts as zeros. */
struct row {
	struct cell cells[COLUMNS_MAX];
	char *buf;
	size_t len, cap;
	struct json json;
	int err;
};

/* Fills the cells of @t from @o; texts stay good until the next.  0 or -ENOMEM. */
int row_fill(struct row *r, const struct table *t, json_object *o);
void row_free(struct row *r);

/* @text as a database may have it, in UTF-8, bytes that are none as JSON shows them; NULL: no
 * memory. */
char *table_text(const char *text);

/* What is at @path of @o; NULL: null or nothing. */
json_object *table_value(json_object *o, const char *path);

#endif /* RECORD_TABLE_H */
