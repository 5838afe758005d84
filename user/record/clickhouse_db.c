// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/clickhouse_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/sql.h"

#define CONNECT_MS    10000L
#define ALL_MS        60000L
#define PORT          "8123"
#define PORT_TLS      "8443"
#define VERSION_TABLE "exitmeter_version"

static int no_memory(struct clickhouse_db *db)
{
	return sink_fail(db->sink, -ENOMEM, "out of memory");
}

/* --- the server ---------------------------------------------------------------------------- */

static int perform(struct clickhouse_db *db)
{
	char why[SINK_WHY_MAX];
	long status = 0;
	int err = client_perform(&db->http, &status);

	if (err)
		return sink_fail(db->sink, err, "%s", db->http.error);
	if (status == 200)
		return 0;
	client_line(db->http.answer, why, sizeof(why));
	if (*why)
		return sink_fail(db->sink, -EIO, "%s", why);
	return sink_fail(db->sink, -EIO, "HTTP %ld", status);
}

/* The next request's URL: that of the database, with @more and @sql, where there is one. */
static int set_url(struct clickhouse_db *db, const char *more, const char *sql)
{
	char *escaped = sql ? curl_easy_escape(db->http.curl, sql, 0) : NULL;
	char *url = NULL;
	int len = -1;

	if (escaped || !sql)
		len = asprintf(&url, "%s%s%s%s", db->base, more, sql ? "&query=" : "",
			       sql ? escaped : "");
	curl_free(escaped);
	if (len < 0)
		return no_memory(db);
	curl_easy_setopt(db->http.curl, CURLOPT_URL, url);
	free(url);
	return 0;
}

static int post(struct clickhouse_db *db, const char *body, size_t len)
{
	curl_easy_setopt(db->http.curl, CURLOPT_POST, 1L);
	curl_easy_setopt(db->http.curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(db->http.curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	return perform(db);
}

int clickhouse_execute(struct clickhouse_db *db, const char *sql)
{
	int err = set_url(db, "", NULL);

	return err ? err : post(db, sql, strlen(sql));
}

int clickhouse_insert(struct clickhouse_db *db, enum table_id table, const char *rows, size_t len)
{
	char sql[64];
	int err;

	snprintf(sql, sizeof(sql), "INSERT INTO %s FORMAT JSONEachRow", tables[table].name);
	err = set_url(db, "", sql);
	return err ? err : post(db, rows, len);
}

int clickhouse_ask(struct clickhouse_db *db, const char *sql, const char *rows, size_t len)
{
	curl_mime *form = curl_mime_init(db->http.curl);
	curl_mimepart *part = form ? curl_mime_addpart(form) : NULL;
	int err = 0;

	/* What has a file's name is a table to the server. */
	if (!part || curl_mime_name(part, "journal") || curl_mime_filename(part, "journal") ||
	    curl_mime_data(part, rows, len))
		err = no_memory(db);
	if (!err)
		err = set_url(db,
			      "&journal_format=JSONEachRow"
			      "&journal_structure=run_id%20String,part%20String",
			      sql);
	if (!err) {
		curl_easy_setopt(db->http.curl, CURLOPT_MIMEPOST, form);
		err = perform(db);
		curl_easy_setopt(db->http.curl, CURLOPT_MIMEPOST, NULL);
	}
	curl_mime_free(form);
	return err;
}

/* --- where it is --------------------------------------------------------------------------- */

/* A part of @u, to be freed with curl_free(); NULL: there is none. */
static char *url_part(CURLU *u, CURLUPart what, unsigned flags)
{
	char *text = NULL;

	return curl_url_get(u, what, &text, flags) == CURLUE_OK ? text : NULL;
}

/* @user: where its password is netrc's business, else NULL. */
static int set_database(struct clickhouse_db *db, CURLU *u, const char *user)
{
	char *scheme = url_part(u, CURLUPART_SCHEME, 0), *port = url_part(u, CURLUPART_PORT, 0);
	char *host = url_part(u, CURLUPART_HOST, 0);
	char *path = url_part(u, CURLUPART_PATH, CURLU_URLDECODE);
	char *name = path ? curl_easy_escape(db->http.curl, path + (*path == '/'), 0) : NULL;
	char *login = curl_easy_escape(db->http.curl, user ? user : "", 0);
	const char *usual = scheme && !strcmp(scheme, "https") ? PORT_TLS : PORT;
	int len = -1;

	if (scheme && host && name && login)
		len = asprintf(&db->base, "%s://%s%s%s:%s/?database=%s", scheme, login,
			       user ? "@" : "", host, port ? port : usual, name);
	if (len < 0)
		db->base = NULL;
	curl_free(scheme);
	curl_free(port);
	curl_free(host);
	curl_free(path);
	curl_free(name);
	curl_free(login);
	return db->base ? 0 : no_memory(db);
}

static const char *environment(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* A password of the environment goes before netrc's; either travels in a header. */
static int set_server(struct clickhouse_db *db, CURLU *u)
{
	const char *password = environment("CLICKHOUSE_PASSWORD");
	const char *name = environment("CLICKHOUSE_USER");
	char *query = url_part(u, CURLUPART_QUERY, CURLU_URLDECODE);
	CURL *curl = db->http.curl;
	int err = 0;

	if (query && !strncmp(query, "user=", 5) && query[5])
		name = query + 5;
	else if (query)
		err = sink_fail(db->sink, -EINVAL, "after the database there may be ?user=NAME");
	if (password && !name)
		name = "default";
	curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
	curl_easy_setopt(curl, CURLOPT_NETRC,
			 password ? (long)CURL_NETRC_IGNORED : (long)CURL_NETRC_OPTIONAL);
	if (password && (curl_easy_setopt(curl, CURLOPT_USERNAME, name) ||
			 curl_easy_setopt(curl, CURLOPT_PASSWORD, password)))
		err = no_memory(db);
	if (!err)
		err = set_database(db, u, password ? NULL : name);
	curl_free(query);
	return err;
}

int clickhouse_open(struct clickhouse_db *db, struct sink *sink, const char *url)
{
	CURLU *u;
	CURLUcode code;
	int err;

	db->sink = sink;
	if (client_open(&db->http, CONNECT_MS, ALL_MS))
		return no_memory(db);
	u = curl_url();
	if (!u)
		return no_memory(db);
	code = curl_url_set(u, CURLUPART_URL, url, 0);
	err = code == CURLUE_OK ? 0 : sink_fail(sink, -EINVAL, "%s", curl_url_strerror(code));
	if (!err)
		err = set_server(db, u);
	curl_url_cleanup(u);
	/* A body is sent at once: what the server does not want is small enough. */
	if (!err && !client_header(&db->headers, "Expect:"))
		err = no_memory(db);
	curl_easy_setopt(db->http.curl, CURLOPT_HTTPHEADER, db->headers);
	return err;
}

void clickhouse_close(struct clickhouse_db *db)
{
	client_close(&db->http);
	curl_slist_free_all(db->headers);
	free(db->base);
}

/* --- our tables ---------------------------------------------------------------------------- */

static const char *const types[] = {
	[COLUMN_INT] = "Int64",   [COLUMN_DOUBLE] = "Float64",       [COLUMN_BOOL] = "UInt8",
	[COLUMN_TEXT] = "String", [COLUMN_TIME] = "DateTime('UTC')", [COLUMN_JSON] = "String",
};

/*
 * The order is what makes a row the same row: of runs the run of a split tree, of the rest its
 * number, which a longer reading of the same journal may give to a row of another run.
 */
static void put_create(FILE *f, enum table_id table)
{
	const struct table *t = &tables[table];

	fprintf(f, "CREATE TABLE IF NOT EXISTS %s (run_id String, part String, split Int64%s",
		t->name, table == TABLE_RUNS ? "" : ", n Int64");
	for (size_t i = 0; i < t->n; i++)
		fprintf(f, ", %s Nullable(%s)", t->columns[i].name, types[t->columns[i].type]);
	fprintf(f,
		", version UInt64, recorded_at DateTime('UTC') MATERIALIZED now()) "
		"ENGINE = ReplacingMergeTree(version) ORDER BY (run_id, part, %s)",
		table == TABLE_RUNS ? "split" : "n");
}

/* Says what is missing where a table of that name is somebody else's. */
static void put_look(FILE *f, enum table_id table)
{
	const struct table *t = &tables[table];

	fprintf(f, "SELECT run_id, part, split, version, recorded_at");
	for (size_t i = 0; i < t->n; i++)
		fprintf(f, ", %s", t->columns[i].name);
	fprintf(f, " FROM %s LIMIT 0", t->name);
}

static int execute_put(struct clickhouse_db *db, void (*put)(FILE *f, enum table_id table),
		       enum table_id table)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);
	bool bad;
	int err;

	if (!f)
		return no_memory(db);
	put(f, table);
	bad = ferror(f);
	bad |= !!fclose(f);
	err = bad ? no_memory(db) : clickhouse_execute(db, sql);
	free(sql);
	return err;
}

/* 0: there are none yet. */
static int read_version(struct clickhouse_db *db, int *ret)
{
	int err = clickhouse_execute(db, "EXISTS TABLE " VERSION_TABLE);

	*ret = 0;
	if (err || db->http.answer[0] != '1')
		return err;
	err = clickhouse_execute(db, "SELECT max(version) FROM " VERSION_TABLE);
	if (!err)
		*ret = atoi(db->http.answer);
	return err;
}

int clickhouse_migrate(struct clickhouse_db *db)
{
	int version, err = read_version(db, &version);

	if (!err && version > SQL_VERSION)
		return sink_fail(db->sink, -EPROTO,
				 "its tables are of version %d, this exitmeter knows %d", version,
				 SQL_VERSION);
	if (err || version == SQL_VERSION)
		return err;
	/* Nothing holds others off meanwhile: each step is one that may be done twice. */
	for (int i = 0; !err && i < TABLES; i++) {
		err = execute_put(db, put_create, (enum table_id)i);
		if (!err)
			err = execute_put(db, put_look, (enum table_id)i);
	}
	if (!err)
		err = clickhouse_execute(db, "CREATE TABLE IF NOT EXISTS " VERSION_TABLE
					     " (version Int64) "
					     "ENGINE = ReplacingMergeTree ORDER BY version");
	return err ? err : clickhouse_execute(db, "INSERT INTO " VERSION_TABLE " VALUES (1)");
}
