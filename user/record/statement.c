// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/statement.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const parameter_names[PARAMETERS] = {
	[PARAMETER_RUN] = "run",       [PARAMETER_PID] = "pid",     [PARAMETER_ID] = "id",
	[PARAMETER_PEAK] = "peak",     [PARAMETER_CPU] = "cpu",     [PARAMETER_CPUS] = "cpus",
	[PARAMETER_WORKER] = "worker", [PARAMETER_START] = "start",
};

const char *statement_select(bool sqlite)
{
	/* Times are texts as SQLite's own functions write them, or seconds since 1970. */
	if (sqlite)
		return "SELECT id, (julianday('now') - julianday(started_at, 'auto')) * 86400.0, "
		       "(julianday('now') - julianday(ended_at, 'auto')) * 86400.0 "
		       "FROM attempts WHERE run = :run AND pid = :pid ORDER BY started_at, id";
	return "SELECT id, extract(epoch FROM now() - started_at), "
	       "extract(epoch FROM now() - ended_at) "
	       "FROM attempts WHERE run = :run AND pid = :pid ORDER BY started_at, id";
}

#define UPDATE                                                             \
	"UPDATE attempts SET peak_rss_bytes = :peak, cpu_seconds = :cpu, " \
	"peak_cpus = :cpus WHERE id = :id AND peak_rss_bytes IS NULL AND " \
	"cpu_seconds IS NULL AND peak_cpus IS NULL"

const char *statement_update(bool fenced)
{
	return fenced ? UPDATE " AND EXISTS (SELECT 1 FROM starts WHERE run = :run AND "
			       "no = :start AND worker = :worker)"
		      : UPDATE;
}

enum parameter parameter_of(const char *name, size_t len)
{
	for (int i = 0; i < PARAMETERS; i++)
		if (strlen(parameter_names[i]) == len && !memcmp(parameter_names[i], name, len))
			return (enum parameter)i;
	return PARAMETERS;
}

bool statement_uses(const struct statement *s, enum parameter p)
{
	for (size_t i = 0; i < s->n_uses; i++)
		if (s->uses[i] == p)
			return true;
	return false;
}

void statement_free(struct statement *s)
{
	free(s->text);
	*s = (struct statement){ 0 };
}

/* --- PostgreSQL's words -------------------------------------------------------------------- */

static bool begins_word(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_word(char c)
{
	return begins_word(c) || isdigit((unsigned char)c) || c == '$';
}

static size_t word_len(const char *at)
{
	size_t n = 0;

	while (in_word(at[n]))
		n++;
	return n;
}

/* From the quote on; a doubled one is one of the text.  0: it does not end. */
static size_t quoted_len(const char *at, bool escapes)
{
	char quote = *at;

	for (size_t n = 1; at[n]; n++) {
		bool escaped = escapes && at[n] == '\\' && at[n + 1];

		if (escaped || (at[n] == quote && at[n + 1] == quote))
			n++;
		else if (at[n] == quote)
			return n + 1;
	}
	return 0;
}

/* $tag$ ... $tag$, from the first $ on.  0: it does not end; *@ret_is: it is one. */
static size_t dollar_len(const char *at, bool *ret_is)
{
	size_t tag = 1;

	while (in_word(at[tag]) && at[tag] != '$')
		tag++;
	*ret_is = at[tag] == '$' && !isdigit((unsigned char)at[1]);
	if (!*ret_is)
		return 0;
	tag++;
	for (const char *p = strchr(at + tag, '$'); p; p = strchr(p + 1, '$'))
		if (!strncmp(p, at, tag))
			return (size_t)(p - at) + tag;
	return 0;
}

/* They nest.  0: it does not end. */
static size_t comment_len(const char *at)
{
	size_t depth = 1, n = 2;

	while (at[n] && depth) {
		bool opens = at[n] == '/' && at[n + 1] == '*';
		bool closes = at[n] == '*' && at[n + 1] == '/';

		depth += opens;
		depth -= closes;
		n += opens || closes ? 2 : 1;
	}
	return depth ? 0 : n;
}

/* --- a statement --------------------------------------------------------------------------- */

struct parse {
	FILE *out;
	struct statement *s;
	char *why;
};

static int fail(struct parse *p, const char *what)
{
	snprintf(p->why, STATEMENT_WHY_MAX, "%s", what);
	return -EINVAL;
}

/* Bytes taken, from a colon on that a word follows; 0: it is no parameter of ours. */
static size_t take_name(struct parse *p, const char *at)
{
	size_t len = word_len(at + 1), i = 0;
	enum parameter name = parameter_of(at + 1, len);

	if (name == PARAMETERS) {
		snprintf(p->why, STATEMENT_WHY_MAX,
			 "':%.*s' is no parameter (they are :run :pid :id :peak :cpu :cpus "
			 ":worker :start)",
			 len > 40 ? 40 : (int)len, at + 1);
		return 0;
	}
	while (i < p->s->n_uses && p->s->uses[i] != name)
		i++;
	if (i == p->s->n_uses)
		p->s->uses[p->s->n_uses++] = name;
	fprintf(p->out, "$%zu", i + 1);
	return len + 1;
}

/* What stands at @at and is copied as it is: *@ret bytes.  *@ret 0: a name. */
static int take(struct parse *p, const char *at, size_t *ret)
{
	bool is;

	*ret = 1;
	if (begins_word(*at)) {
		bool escapes = (*at == 'e' || *at == 'E') && at[1] == '\'';

		*ret = escapes ? 1 + quoted_len(at + 1, true) : word_len(at);
		return escapes && *ret == 1 ? fail(p, "a quote does not end") : 0;
	}
	if (*at == '\'' || *at == '"') {
		*ret = quoted_len(at, false);
		return *ret ? 0 : fail(p, "a quote does not end");
	}
	if (*at == '$') {
		size_t len = dollar_len(at, &is);

		if (is && !len)
			return fail(p, "a quote does not end");
		if (isdigit((unsigned char)at[1]))
			return fail(p, "parameters have names here, no numbers");
		*ret = is ? len : 1;
		return 0;
	}
	if (at[0] == '-' && at[1] == '-') {
		*ret = strcspn(at, "\n");
	} else if (at[0] == '/' && at[1] == '*') {
		*ret = comment_len(at);
		return *ret ? 0 : fail(p, "a comment does not end");
	} else if (at[0] == ':' && at[1] == ':') {
		*ret = 2;
	} else if (at[0] == ':' && begins_word(at[1])) {
		*ret = 0;
	}
	return 0;
}

static int parse(struct parse *p, const char *at)
{
	while (*at) {
		size_t len;
		int err = take(p, at, &len);

		if (err)
			return err;
		if (len)
			fwrite(at, 1, len, p->out);
		else
			len = take_name(p, at);
		if (!len)
			return -EINVAL;
		at += len;
	}
	return 0;
}

int statement_parse(const char *sql, struct statement *ret, char why[STATEMENT_WHY_MAX])
{
	struct statement s = { 0 };
	struct parse p = { .s = &s, .why = why };
	size_t len;
	int err;

	*why = '\0';
	p.out = open_memstream(&s.text, &len);
	if (!p.out)
		return -ENOMEM;
	err = sql[strspn(sql, " \t\r\n")] ? parse(&p, sql) : fail(&p, "there is none");
	if (ferror(p.out) && !err)
		err = -ENOMEM;
	if (fclose(p.out) && !err)
		err = -ENOMEM;
	if (err)
		statement_free(&s);
	else
		*ret = s;
	return err;
}
