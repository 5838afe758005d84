/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * url - where runs are recorded (INTERFACE 1, --to)
 *
 * Command lines are seen by everyone on the machine: a password in one is refused.  It comes from
 * PGPASSFILE, netrc or the environment.
 */
#ifndef URL_H
#define URL_H

#include <stdbool.h>

enum url_kind { URL_SQLITE, URL_POSTGRES, URL_CLICKHOUSE, URL_HTTP };

struct url {
	enum url_kind kind;
	const char *text; /* as it was given; borrowed */
	/* sqlite: the file; clickhouse: without "clickhouse+"; else @text */
	const char *rest;
};

/* False after one line that tells what is wrong with it. */
bool url_parse(const char *text, struct url *ret);
/* Its text, a file's from the root on: good in any folder.  The caller's; NULL: no memory. */
char *url_absolute(const struct url *url);

#endif /* URL_H */
