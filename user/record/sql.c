// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sql.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const own_of_runs[SQL_OWN_COLUMNS] = { "id", "part", "split" };
static const char *const own_of_rest[SQL_OWN_COLUMNS] = { "run", "split", "n" };

static const char *const *own(enum table_id table)
{
	return table == TABLE_RUNS ? own_of_runs : own_of_rest;
}

/* What open_memstream gathered. */
static char *ended(FILE *f, char **text)
{
	int bad = ferror(f);

	if (!fclose(f) && !bad)
		return *text;
	free(*text);
	return NULL;
}

static void put_names(FILE *f, enum table_id table)
{
	for (size_t i = 0; i < SQL_OWN_COLUMNS; i++)
		fprintf(f, "%s%s", i ? ", " : "", own(table)[i]);
	for (size_t i = 0; i < tables[table].n; i++)
		fprintf(f, ", %s", tables[table].columns[i].name);
}

char *sql_create(const struct sql_dialect *d, enum table_id table)
{
	const struct table *t = &tables[table];
	const char *integer = d->types[COLUMN_INT], *words = d->types[COLUMN_TEXT];
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "CREATE TABLE %s (", t->name);
	if (table == TABLE_RUNS)
		fprintf(f, "key %s, id %s NOT NULL, part %s NOT NULL, split %s NOT NULL", d->key,
			words, words, integer);
	else
		fprintf(f,
			"run %s NOT NULL REFERENCES runs (key) ON DELETE CASCADE, split %s NOT "
			"NULL, "
			"n %s NOT NULL",
			integer, integer, integer);
	for (size_t i = 0; i < t->n; i++)
		fprintf(f, ", %s %s", t->columns[i].name, d->types[t->columns[i].type]);
	if (table == TABLE_RUNS)
		fprintf(f, ", recorded_at %s, UNIQUE (id, part, split))", d->now);
	else
		fprintf(f, ", PRIMARY KEY (run, n))");
	return ended(f, &text);
}

char *sql_insert(enum table_id table, char mark)
{
	const struct table *t = &tables[table];
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "INSERT INTO %s (", t->name);
	put_names(f, table);
	fprintf(f, ") VALUES (");
	for (size_t i = 1; i <= SQL_OWN_COLUMNS + t->n; i++)
		fprintf(f, "%s%c%zu", i > 1 ? ", " : "", mark, i);
	fprintf(f, ")");
	if (table == TABLE_RUNS) {
		fprintf(f, " ON CONFLICT (id, part, split) DO UPDATE SET ");
		for (size_t i = 0; i < t->n; i++)
			fprintf(f, "%s = excluded.%s, ", t->columns[i].name, t->columns[i].name);
		fprintf(f, "recorded_at = excluded.recorded_at");
	}
	return ended(f, &text);
}

char *sql_columns(enum table_id table)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put_names(f, table);
	return ended(f, &text);
}
