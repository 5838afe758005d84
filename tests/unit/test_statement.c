// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_statement - parameters by name in statements of a user's (SPEC U-96)
 */
#include <errno.h>

#include "record/statement.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *what, *sql, *text; /* NULL: refused, */
	const char *uses;              /* why; else the names, in order */
} cases[] = {
	{ "none", "select 1", "select 1", "" },
	{ "a name", "select :run", "select $1", "run" },
	{ "in the order of their use", "select :pid, :run", "select $1, $2", "pid run" },
	{ "a name twice", ":run :pid :run", "$1 $2 $1", "run pid" },
	{ "all", ":run:pid:id:peak:cpu:cpus:worker:start", "$1$2$3$4$5$6$7$8",
	  "run pid id peak cpu cpus worker start" },
	{ "cpu is not cpus", ":cpus :cpu", "$1 $2", "cpus cpu" },
	{ "at the end", "x = :id", "x = $1", "id" },
	{ "a cast", "select now()::timestamptz, :run::bigint",
	  "select now()::timestamptz, $1::bigint", "run" },
	{ "a cast to what is called like one", "x::run", "x::run", "" },
	{ "a slice", "a[1:2], b[:2]", "a[1:2], b[:2]", "" },
	{ "an assignment", "f(a := 1)", "f(a := 1)", "" },
	{ "a string", "select ':run', :run", "select ':run', $1", "run" },
	{ "a doubled quote", "'it''s :run' :run", "'it''s :run' $1", "run" },
	{ "a backslash is none", "'\\' :run ' '", "'\\' $1 ' '", "run" },
	{ "an escape string", "E'\\' :run ' :pid e'\\\\' :id", "E'\\' :run ' $1 e'\\\\' $2",
	  "pid id" },
	{ "a word that ends in e", "like'\\' :run", "like'\\' $1", "run" },
	{ "a name in quotes", "\"a \"\":run\" :run", "\"a \"\":run\" $1", "run" },
	{ "a line's comment", "-- :run\n:pid -- :id", "-- :run\n$1 -- :id", "pid" },
	{ "comments that nest", "/* /* :run */ :run */ :pid", "/* /* :run */ :run */ $1", "pid" },
	{ "a comment in a string", "'/*' :run '*/'", "'/*' $1 '*/'", "run" },
	{ "dollar quotes", "$$ :run ' $$ :pid", "$$ :run ' $$ $1", "pid" },
	{ "with a tag", "$a$ $$ :run $b$ $a$ :pid", "$a$ $$ :run $b$ $a$ $1", "pid" },
	{ "a dollar in a word", "a$1 :run, b$$ :pid", "a$1 $1, b$$ $2", "run pid" },
	{ "a dollar alone", "a $ :run", "a $ $1", "run" },
	{ "minus", "1-:pid", "1-$1", "pid" },
	{ "not in ASCII", "\"\xc3\xa9\" = :run", "\"\xc3\xa9\" = $1", "run" },
	{ "another name", "select :runs", NULL,
	  "':runs' is no parameter (they are :run :pid :id :peak :cpu :cpus :worker :start)" },
	{ "in capitals", "select :RUN", NULL,
	  "':RUN' is no parameter (they are :run :pid :id :peak :cpu :cpus :worker :start)" },
	{ "a number", "select $1, :run", NULL, "parameters have names here, no numbers" },
	{ "a string without end", "select ':run", NULL, "a quote does not end" },
	{ "an escape string without end", "select E'\\'", NULL, "a quote does not end" },
	{ "a name without end", "select \":run", NULL, "a quote does not end" },
	{ "a dollar quote without end", "$a$ :run $b$", NULL, "a quote does not end" },
	{ "a comment without end", "/* /* */ :run", NULL, "a comment does not end" },
	{ "nothing", " \n\t", NULL, "there is none" },
};

static void check(const char *what, const char *sql, const char *text, const char *uses)
{
	char why[STATEMENT_WHY_MAX] = "", names[128] = "";
	struct statement s = { 0 };
	int err = statement_parse(sql, &s, why);

	EQ_I(err, text ? 0 : -EINVAL, "%s: parsed", what);
	if (err) {
		EQ_S(why, text ? "" : uses, "%s: the reason", what);
		OK(!s.text, "%s: nothing is given", what);
		return;
	}
	for (size_t i = 0; i < s.n_uses; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? " " : "",
			 parameter_names[s.uses[i]]);
	EQ_S(s.text, text, "%s: numbered", what);
	EQ_S(names, uses, "%s: the names", what);
	statement_free(&s);
}

static void uses(const char *what, const char *sql, bool fence, bool shares)
{
	char why[STATEMENT_WHY_MAX] = "";
	struct statement s = { 0 };

	EQ_I(statement_parse(sql, &s, why), 0, "%s: parsed", what);
	OK(statement_uses(&s, PARAMETER_RUN) || shares, "%s: of a run", what);
	EQ_I(statement_uses(&s, PARAMETER_WORKER), fence, "%s: the worker", what);
	EQ_I(statement_uses(&s, PARAMETER_START), fence, "%s: the start", what);
	EQ_I(statement_uses(&s, PARAMETER_PEAK), shares, "%s: the peak", what);
	EQ_I(statement_uses(&s, PARAMETER_ID), shares, "%s: the id", what);
	statement_free(&s);
}

int main(void)
{
	for (size_t i = 0; i < COUNT(cases); i++)
		check(cases[i].what, cases[i].sql, cases[i].text, cases[i].uses);
	uses("select of SQLite", statement_select(true), false, false);
	uses("select of PostgreSQL", statement_select(false), false, false);
	uses("update", statement_update(false), false, true);
	uses("fenced update", statement_update(true), true, true);
	EQ_I(parameter_of("cpus", 4), PARAMETER_CPUS, "a name");
	EQ_I(parameter_of("cpus", 3), PARAMETER_CPU, "a part of it");
	EQ_I(parameter_of("", 0), PARAMETERS, "no name");
	return tap_done();
}
