/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_ended - the processes of a journal that ended, to a sink that shares out attempts
 *
 * Of a split tree that is each run's first process, when its run_end is read; else the run's own,
 * at the end.  Memory is that of the runs that live.
 */
#ifndef RECORD_LOAD_ENDED_H
#define RECORD_LOAD_ENDED_H

#include <stdio.h>

#include "record/load.h"

/* Who waits until a sink may be there again. */
struct patience {
	void *ctx;
	bool (*wait)(void *ctx, int ms); /* false: there is no time left */
};

/* As load_journal.  @patience: NULL where nothing is tried again. */
enum load_result load_ended(FILE *in, const char *name, struct sink *s,
			    const struct scheduler *scheduler, const struct patience *patience,
			    int *ret_err);

#endif /* RECORD_LOAD_ENDED_H */
