/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans - a file of attempts, shared out from a finished run
 */
#ifndef JOURNAL_SPANS_H
#define JOURNAL_SPANS_H

#include "model/spans.h"

/*
 * Reads @path and adds its attempts to @s with what they used.  A line that is no good is told with
 * its number and left out.  0; -EBADMSG: there were such; -errno after one line was printed.
 */
int spans_add(const char *path, struct summary *s);

#endif /* JOURNAL_SPANS_H */
