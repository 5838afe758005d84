/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statement - SQL of a user's with parameters by name, and the two that attempts are recorded with
 *
 * A name is a colon and a word outside of quotes, comments and casts (::).  Values travel as
 * parameters only; the text of a statement is never made of them.
 */
#ifndef RECORD_STATEMENT_H
#define RECORD_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

enum parameter {
	PARAMETER_RUN,
	PARAMETER_PID,
	PARAMETER_ID,
	PARAMETER_PEAK,
	PARAMETER_CPU,
	PARAMETER_CPUS,
	PARAMETER_WORKER,
	PARAMETER_START,
	PARAMETERS
};

/* Without the colon. */
extern const char *const parameter_names[PARAMETERS];

struct statement {
	char *text; /* names are $1, $2, ... */
	enum parameter uses[PARAMETERS];
	size_t n_uses; /* uses[0] is $1 */
};

#define STATEMENT_WHY_MAX 160

/*
 * Reads @sql as PostgreSQL does.  0, -ENOMEM, or -EINVAL and why in @why; statement_free after 0.
 */
int statement_parse(const char *sql, struct statement *ret, char why[STATEMENT_WHY_MAX]);
void statement_free(struct statement *s);
bool statement_uses(const struct statement *s, enum parameter p);

/* The parameter of that name, without the colon; PARAMETERS: there is none. */
enum parameter parameter_of(const char *name, size_t len);

/*
 * SPEC 1.12: ages by the database's own now; shares once only, and while the start is the worker's
 * where there is one.
 */
const char *statement_select(bool sqlite);
const char *statement_update(bool fenced);

#endif /* RECORD_STATEMENT_H */
