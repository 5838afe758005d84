/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_stretch - phases and attempts, from a summary and from a journal's own lines
 */
#ifndef JOURNAL_READ_STRETCH_H
#define JOURNAL_READ_STRETCH_H

#include "journal/read_values.h"

/* Of the summary @o, whose ages count from @aged_ns.  0, -EBADMSG with the reason, or -ENOMEM. */
int values_stretches(json_object *o, int64_t aged_ns, struct summary *s, struct why *why);

/* What lines tell, for a journal without a summary. */
struct told_stretches {
	struct stretches phases;
	struct stretches ended; /* attempts with what they used */
	struct stretches open;  /* that have begun */
};

/* "phase", "attempt_start" or "attempt_end" at @at_ns.  The same results. */
int told_take(struct told_stretches *t, const char *event, json_object *o, int64_t at_ns,
	      struct why *why);
/*
 * Moves all into @s, whose run was cut off; what is not told comes from its marks, unless these are
 * not @all.  0 or -ENOMEM.
 */
int told_finish(struct told_stretches *t, bool all, struct summary *s);
void told_free(struct told_stretches *t);

#endif /* JOURNAL_READ_STRETCH_H */
