/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deliver - journals and entries of the spool, to the sinks they are for
 *
 * A sink is opened when the first journal comes for it; one that failed is not asked again.  Where
 * to is a target (scheduler.h).
 */
#ifndef RECORD_DELIVER_H
#define RECORD_DELIVER_H

#include <stdbool.h>
#include <stdio.h>

#include "journal/outbox.h"

struct delivery;

struct delivery *delivery_new(void); /* NULL: out of memory */
void delivery_free(struct delivery *d);

/*
 * Writes the journal @in, from where it stands, named @name.  False after one line was printed:
 * the sink does not have it.
 */
bool deliver_journal(struct delivery *d, FILE *in, const char *name, const char *target);

/*
 * An entry to all it is owed to, or, of these, to the URLs of the @n targets @only.  False:
 * something is still owed; it stays where it is, and why was printed.
 */
bool deliver_entry(struct delivery *d, struct outbox_entry *e, const char *const *only, size_t n);

#endif /* RECORD_DELIVER_H */
