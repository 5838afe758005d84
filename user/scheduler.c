// SPDX-License-Identifier: GPL-2.0-or-later
#include "scheduler.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "options.h"
#include "url.h"

enum { SELECT_SQL = SCHEDULER_OPTION, UPDATE_SQL, WORKER, START };

/* --- options ------------------------------------------------------------------------------- */

static bool take_start(struct scheduler *s, const char *arg)
{
	long number;

	free(s->start_env);
	s->start_env = NULL;
	s->start = 0;
	if (!strncmp(arg, "ENV:", 4)) {
		if (!options_variable(arg + 4)) {
			log_line("start '%s': no name of a variable", arg);
			return false;
		}
		s->start_env = strdup(arg + 4);
		return s->start_env;
	}
	if (!options_number("start", arg, 0, LONG_MAX, &number))
		return false;
	s->start = number;
	return true;
}

/* The whole of it in *@ret; or why not, NULL where it could be read. */
static const char *read_sql(FILE *f, char **ret)
{
	char *text = malloc(SCHEDULER_SQL_MAX + 2);
	const char *why = NULL;
	size_t len;

	if (!text)
		return strerror(ENOMEM);
	len = fread(text, 1, SCHEDULER_SQL_MAX + 1, f);
	text[len] = '\0';
	if (ferror(f))
		why = strerror(errno);
	else if (len > SCHEDULER_SQL_MAX)
		why = "longer than 16 KiB";
	else if (strlen(text) < len)
		why = "there is a NUL in it";
	if (why)
		free(text);
	else
		*ret = text;
	return why;
}

static bool take_sql(char **sql, const char *option, const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	const char *why = f ? read_sql(f, &text) : strerror(errno);

	if (f)
		fclose(f);
	if (why) {
		log_line("--%s '%s': %s", option, path, why);
		return false;
	}
	free(*sql);
	*sql = text;
	return true;
}

int scheduler_take(struct scheduler *s, int key, const char *arg)
{
	long number;
	bool ok;

	switch (key) {
	case WORKER:
		ok = options_number("worker", arg, 0, LONG_MAX, &number);
		if (ok)
			s->worker = number;
		break;
	case START:
		ok = take_start(s, arg);
		break;
	case SELECT_SQL:
		ok = take_sql(&s->select_sql, "select-sql", arg);
		break;
	case UPDATE_SQL:
		ok = take_sql(&s->update_sql, "update-sql", arg);
		break;
	default:
		return -1;
	}
	s->on = true;
	return ok ? 0 : 1;
}

bool scheduler_check(const struct scheduler *s)
{
	if (s->worker && !s->start && !s->start_env) {
		log_line("--worker without --start: nothing says which start must still be its");
		return false;
	}
	return true;
}

void scheduler_free(struct scheduler *s)
{
	free(s->start_env);
	free(s->select_sql);
	free(s->update_sql);
	*s = (struct scheduler){ 0 };
}

/* --- as text ------------------------------------------------------------------------------- */

/* What would end a line or a field, and what escapes, is %XX. */
static void put_text(FILE *f, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(f, "\t%s=", name);
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text) || *text == '%')
			fprintf(f, "%%%02x", (unsigned char)*text);
		else
			fputc(*text, f);
	}
}

bool scheduler_suits(const struct scheduler *s, const char *url)
{
	struct url u;

	if (!s->on || !url_parse(url, &u) || u.kind != URL_CLICKHOUSE)
		return true;
	log_line("--to: ClickHouse has no tables of a scheduler's: attempts are written to SQLite "
		 "and PostgreSQL");
	return false;
}

char *scheduler_target(const struct scheduler *s, const char *url)
{
	char *text = NULL;
	size_t len;
	FILE *f;
	int bad;

	if (!s->on)
		return strdup(url);
	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	fprintf(f, "%s\tworker=%lld\tstart=%lld", url, (long long)s->worker, (long long)s->start);
	put_text(f, "start-env", s->start_env);
	put_text(f, "select", s->select_sql);
	put_text(f, "update", s->update_sql);
	bad = ferror(f);
	if (!fclose(f) && !bad)
		return text;
	free(text);
	return NULL;
}

static bool hex(char c, unsigned int *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c) : NULL;

	if (p)
		*ret = (unsigned int)(p - digits);
	return p;
}

/* In place. */
static bool unescape(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		unsigned int high, low;

		*to = *text;
		if (*text != '%')
			continue;
		if (!hex(text[1], &high) || !hex(text[2], &low) || !(high | low))
			return false;
		*to = (char)(high << 4 | low);
		text += 2;
	}
	*to = '\0';
	return true;
}

bool scheduler_number(const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end != text && !*end && !errno && *ret >= 0;
}

static int take_field(struct scheduler *s, char *field)
{
	char *value = strchr(field, '='), **text = NULL;

	if (!value)
		return -EBADMSG;
	*value++ = '\0';
	if (!strcmp(field, "worker"))
		return scheduler_number(value, &s->worker) ? 0 : -EBADMSG;
	if (!strcmp(field, "start"))
		return scheduler_number(value, &s->start) ? 0 : -EBADMSG;
	if (!strcmp(field, "start-env"))
		text = &s->start_env;
	else if (!strcmp(field, "select"))
		text = &s->select_sql;
	else if (!strcmp(field, "update"))
		text = &s->update_sql;
	if (!text || *text || !unescape(value))
		return -EBADMSG;
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

int scheduler_of_target(char *target, struct scheduler *ret)
{
	char *rest = strchr(target, '\t'), *field;
	int err = 0;

	*ret = (struct scheduler){ .on = rest };
	if (!rest)
		return 0;
	*rest++ = '\0';
	while (!err && (field = strsep(&rest, "\t")))
		err = take_field(ret, field);
	return err;
}
