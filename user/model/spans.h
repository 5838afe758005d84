/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans - attempts that are told of in a file: lines of {"id","started","ended"} (INTERFACE 7)
 */
#ifndef SPANS_H
#define SPANS_H

#include "model/summary.h"

#define SPAN_LINE_MAX 4096
#define SPANS_MAX     STRETCHES_MAX

/*
 * Adds the line's attempt to @all; a blank line has none.  @started_at_ns: of the run, since the
 * epoch, UNKNOWN unknown.  NULL; or what is wrong with it in words.
 */
const char *span_parse(const char *line, size_t len, int64_t started_at_ns, struct stretches *all);

/*
 * What each used, from the run's marks and rows (SPEC 1.9, 1.17), then moves all behind
 * those of @into, which are the summary's.  0 or -ENOMEM: nothing is moved then.
 */
int spans_attribute(struct summary *s, struct stretches *all, struct stretches *into);

#endif /* SPANS_H */
