/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeformat - GNU time's formats (SPEC 5.5, INTERFACE 5)
 */
#ifndef TIMEFORMAT_H
#define TIMEFORMAT_H

#include "report/document.h"

extern const char timeformat_verbose[]; /* -v */
extern const char timeformat_posix[];   /* --posix */

/*
 * "Command exited with non-zero status N" where it failed (not with timeformat_posix), then @format
 * and a newline; with @own the lines of document_text after it.  What is not known is "?".  0,
 * -ENOMEM or what the sink said.
 */
int document_time(const struct summary *s, const char *format, bool own,
		  const struct document_sink *to);

#endif /* TIMEFORMAT_H */
