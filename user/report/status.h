/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status - a process's end as four lines: when, what, and its VmPeak and VmHWM (SPEC 5.2)
 */
#ifndef STATUS_H
#define STATUS_H

#include "report/document.h"

/*
 * A record for the root, before it one for each of @all where that is not NULL, each with an empty
 * line after it.  Records are handed on whole, a few in one piece.  0, -ENOMEM or what the sink
 * said.
 */
int document_status(const struct summary *s, const struct document_rows *all,
		    const struct document_sink *to);

#endif /* STATUS_H */
