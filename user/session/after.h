/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * after - outputs that exitmeter-report makes once the run is over, from a journal kept for it
 *
 * Metering writes a journal in any case: the user's own file where that can be read back, else an
 * unlinked temporary one.  Their files are opened before anything starts, as all outputs are.
 */
#ifndef AFTER_H
#define AFTER_H

#include <signal.h>

#include "config.h"
#include "output.h"

struct after {
	int journal_fd; /* to be read from its start; -1: nothing is wanted */
	int copy_fd;    /* where the journal is to be written too; -1: nowhere */
	struct output outs[MADE_N];
};

void after_init(struct after *a);
/*
 * Opens what @c asks for.  @journal is the user's own, open or none; where there is none it becomes
 * the temporary one.  0, or -errno after one line was printed; after_close in any case.
 */
int after_open(const struct config *c, struct output *journal, struct after *a);
/*
 * The journal is written: makes the outputs, the report into @report where it is of a kind that is
 * made, and waits for that.  @mask is what signals were blocked when we were started.  0; -errno
 * after one line was printed: then @report was not begun.
 */
int after_make(const struct config *c, struct after *a, struct output *report,
	       const sigset_t *mask);
void after_close(struct after *a);

#endif /* AFTER_H */
