// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/outbox.h"
#include "output.h"
#include "record/sql.h"
#include "record/table.h"
#include "tap.h"
#include "url.h"

/* The place of a column in its table; fails loudly. */
static const struct cell *cell_of(const struct row *r, enum table_id table, const char *name)
{
	for (size_t i = 0; i < tables[table].n; i++)
		if (!strcmp(tables[table].columns[i].name, name))
			return &r->cells[i];
	OK(false, "a column %s", name);
	return &r->cells[0];
}

static void fill(struct row *r, enum table_id table, const char *json)
{
	json_object *o = json_tokener_parse(json);

	OK(o, "it is JSON");
	EQ_I(row_fill(r, &tables[table], o), 0, "a row of %s", tables[table].name);
	json_object_put(o);
}

static void test_rows(void)
{
	static struct row r;

	fill(&r, TABLE_PROCESSES,
	     "{\"pid\":7,\"comm\":\"a\\\"b\",\"argv\":[\"x\",\"'); DROP\"],\"exit_code\":null,"
	     "\"running\":false,\"cpu_seconds\":2,\"rss_split_bytes\":{\"anon\":5},"
	     "\"peak_rss_bytes\":9007199254740993,\"io\":null}");
	EQ_I(cell_of(&r, TABLE_PROCESSES, "pid")->i, 7, "an integer");
	EQ_I(cell_of(&r, TABLE_PROCESSES, "peak_rss_bytes")->i, 9007199254740993LL,
	     "of 64 bits, exact");
	EQ_S(cell_of(&r, TABLE_PROCESSES, "comm")->text, "a\"b", "a text");
	EQ_S(cell_of(&r, TABLE_PROCESSES, "argv")->text, "[\"x\",\"'); DROP\"]", "a list as JSON");
	OK(cell_of(&r, TABLE_PROCESSES, "exit_code")->null, "null is NULL");
	OK(cell_of(&r, TABLE_PROCESSES, "ppid")->null, "what is missing is NULL");
	OK(cell_of(&r, TABLE_PROCESSES, "rchar")->null, "so is what is inside null");
	OK(!cell_of(&r, TABLE_PROCESSES, "running")->null, "false is not NULL");
	EQ_I(cell_of(&r, TABLE_PROCESSES, "running")->i, 0, "false");
	EQ_D(cell_of(&r, TABLE_PROCESSES, "cpu_seconds")->d, 2, 0,
	     "an integer where a double goes");
	EQ_I(cell_of(&r, TABLE_PROCESSES, "anon_bytes")->i, 5, "a member of a member");

	fill(&r, TABLE_PROCESSES,
	     "{\"pid\":\"7\",\"comm\":\"x\\u0000y\\u001b\",\"argv\":[\"\\u0000\"]}");
	OK(cell_of(&r, TABLE_PROCESSES, "pid")->null, "a text is no integer");
	EQ_S(cell_of(&r, TABLE_PROCESSES, "comm")->text, "x\xef\xbf\xbdy\x1b",
	     "a NUL, which no text of SQL can hold, is replaced");
	EQ_S(cell_of(&r, TABLE_PROCESSES, "argv")->text, "[\"\xef\xbf\xbd\"]", "in JSON too");

	fill(&r, TABLE_MARKS, "[1.5,-1,0,-1]");
	EQ_D(cell_of(&r, TABLE_MARKS, "age")->d, 1.5, 0, "an age");
	OK(cell_of(&r, TABLE_MARKS, "rss_bytes")->null, "-1 of a mark is not known");
	OK(!cell_of(&r, TABLE_MARKS, "cpu_seconds")->null, "0 was measured");
	OK(cell_of(&r, TABLE_MARKS, "cpus")->null, "-1 cores are not known");

	fill(&r, TABLE_ATTEMPTS,
	     "{\"id\":12,\"started\":3,\"ended\":null,\"usage\":{\"peak_cpus\":0.5}}");
	EQ_S(cell_of(&r, TABLE_ATTEMPTS, "id")->text, "12", "an attempt's number as a text");
	OK(cell_of(&r, TABLE_ATTEMPTS, "ended_age")->null, "not ended");
	row_free(&r);
}

/* Bytes that are no UTF-8 come from a journal as they are. */
static void test_bytes(void)
{
	static struct row r;
	json_object *o = json_object_new_object();

	json_object_object_add(o, "comm", json_object_new_string("\xe9 \xc3\xa9"));
	EQ_I(row_fill(&r, &tables[TABLE_PROCESSES], o), 0, "a row");
	EQ_S(cell_of(&r, TABLE_PROCESSES, "comm")->text, "\xc3\xa9 \xc3\xa9",
	     "a byte that is no UTF-8 is its Latin-1 character");
	json_object_put(o);
	row_free(&r);
}

static void test_sql(void)
{
	static const struct sql_dialect d = {
		.types = { "INT", "REAL", "BOOL", "TEXT", "TIME", "JSON" },
		.key = "INT KEY",
		.now = "TIME NOW",
	};
	char *text = sql_create(&d, TABLE_MARKS);

	EQ_S(text,
	     "CREATE TABLE marks (run INT NOT NULL REFERENCES runs (key) ON DELETE CASCADE, "
	     "split INT NOT NULL, n INT NOT NULL, age REAL, rss_bytes INT, cpu_seconds REAL, "
	     "cpus REAL, PRIMARY KEY (run, n))",
	     "a table");
	free(text);
	text = sql_insert(TABLE_MARKS, '$');
	EQ_S(text,
	     "INSERT INTO marks (run, split, n, age, rss_bytes, cpu_seconds, cpus) "
	     "VALUES ($1, $2, $3, $4, $5, $6, $7)",
	     "a row of it");
	free(text);
	for (int i = 0; i < TABLES; i++)
		OK(tables[i].n <= COLUMNS_MAX, "there is room for the columns of %s",
		   tables[i].name);
}

static void test_urls(void)
{
	static const struct {
		const char *text;
		bool good;
		enum url_kind kind;
	} cases[] = {
		{ "sqlite:a.db", true, URL_SQLITE },
		{ "sqlite:/a:b@c.db", true, URL_SQLITE },
		{ "sqlite:", false, URL_SQLITE },
		{ "postgresql://h/d", true, URL_POSTGRES },
		{ "postgres://u@h/d", true, URL_POSTGRES },
		{ "postgresql://u:@h/d", true, URL_POSTGRES },
		{ "postgresql://u:p@h/d", false, URL_POSTGRES },
		{ "postgresql://h/d?user=u&password=p", false, URL_POSTGRES },
		{ "postgresql://h/d?PassWord=p", false, URL_POSTGRES },
		{ "postgresql://h/d?pass%77ord=p", false, URL_POSTGRES },
		{ "postgresql://h/d?host=%2Ftmp", true, URL_POSTGRES },
		{ "postgresql://h/d?application_name=password", true, URL_POSTGRES },
		{ "postgresql://h/d\n", false, URL_POSTGRES },
		{ "mysql://h/d", false, URL_POSTGRES },
		{ "", false, URL_SQLITE },
	};
	struct url url;
	char *whole;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OK(url_parse(cases[i].text, &url) == cases[i].good, "'%s'", cases[i].text);
		if (cases[i].good)
			EQ_I(url.kind, cases[i].kind, "its kind");
	}
	OK(url_parse("sqlite:x.db", &url), "a file");
	whole = url_absolute(&url);
	OK(whole && !strncmp(whole, "sqlite:/", 8) && !strcmp(whole + strlen(whole) - 5, "/x.db"),
	   "from the root on");
	free(whole);
}

/* --- the spool ----------------------------------------------------------------------------- */

static int entry(int dir, const char *const *urls, size_t n, char name[OUTBOX_NAME_MAX])
{
	int fd = -1;

	EQ_I(outbox_new(dir, urls, n, name, &fd), 0, "an entry");
	EQ_I(write_all(fd, "line\n", 5), 0, "a line of it");
	return fd;
}

static void test_outbox(void)
{
	char path[] = "/tmp/exitmeter-test.XXXXXX", name[OUTBOX_NAME_MAX], deep[128];
	const char *const urls[] = { "sqlite:/a", "sqlite:/b" };
	struct outbox_entry e;
	char **names;
	size_t n;
	int dir = -1, fd;

	OK(mkdtemp(path), "a folder");
	snprintf(deep, sizeof(deep), "%s/x/y", path);
	EQ_I(outbox_open(deep, &dir), 0, "a spool, made where there is none");
	fd = entry(dir, urls, 2, name);
	EQ_I(outbox_take(dir, name, false, &e), -EAGAIN, "one that is written is left alone");
	close(fd);
	EQ_I(outbox_take(dir, name, false, &e), 0, "and taken when that is over");
	EQ_I(e.n_urls, 2, "it is owed to both");
	EQ_I(outbox_paid(&e, "sqlite:/a"), 0, "one has it");
	outbox_close(&e);
	EQ_I(outbox_take(dir, name, false, &e), 0, "it is still there");
	EQ_I(e.n_urls, 1, "owed to one");
	EQ_S(e.urls[0], "sqlite:/b", "the other");
	EQ_I(outbox_paid(&e, "sqlite:/b"), 0, "it has it too");
	outbox_close(&e);
	EQ_I(outbox_take(dir, name, false, &e), -ENOENT, "then it is gone");

	close(entry(dir, urls, 1, name));
	snprintf(deep, sizeof(deep), "%s.to", name);
	EQ_I(unlinkat(dir, deep, 0), 0, "an entry whose list is lost");
	EQ_I(outbox_take(dir, name, false, &e), 0, "is there");
	EQ_I(e.n_urls, 0, "nobody knows to whom it is owed");
	EQ_I(outbox_reject(&e), 0, "one that is no journal goes out of the way");
	outbox_close(&e);
	EQ_I(outbox_list(dir, &names, &n), 0, "the list");
	EQ_I(n, 0, "does not have it");
	free(names);
	EQ_I(outbox_take(dir, "../x", false, &e), -ENOENT, "no way out of the folder");
	EQ_I(fchmod(dir, 0777), 0, "a folder others may write to");
	close(dir);
	snprintf(deep, sizeof(deep), "%s/x/y", path);
	EQ_I(outbox_open(deep, &dir), -EPERM, "is no spool");
	snprintf(deep, sizeof(deep), "%s/x/y/%s.bad", path, name);
	EQ_I(unlink(deep), 0, "what was rejected is kept");
	for (int i = 0; i < 3; i++) {
		*strrchr(deep, '/') = '\0';
		EQ_I(rmdir(deep), 0, "and nothing else");
	}
}

int main(void)
{
	test_rows();
	test_bytes();
	test_sql();
	test_urls();
	test_outbox();
	return tap_done();
}
