/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans - a file of attempts, shared out from a finished run
 */
#ifndef JOURNAL_SPANS_H
#define JOURNAL_SPANS_H

#include "model/spans.h"

/*
 * Adds the attempts of @path to @all.  A line that is no good is left out, and told with its number
 * where @tell.  0; -EBADMSG: there were such; -errno.
 */
int spans_read(const char *path, int64_t started_at_ns, bool tell, struct stretches *all);

/*
 * Reads @path and adds its attempts to @s with what they used.  A line that is no good is told with
 * its number and left out, one that @s has already from its start just left out.  0; -EBADMSG:
 * there were such; -errno after one line was printed.
 */
int spans_add(const char *path, struct summary *s);

#endif /* JOURNAL_SPANS_H */
