/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live - attempts of a split tree's runs as each ends, while the journal is still written
 *
 * For each target that takes them a process of its own, so that none waits for another; what has
 * come to an end is tried again while the whole run lives.
 */
#ifndef RECORD_LIVE_H
#define RECORD_LIVE_H

#include "journal/outbox.h"

struct live {
	size_t n;
	struct {
		char *target;
		int pid;
	} at[OUTBOX_URLS_MAX];
};

/* Of the entry @name of the spool @dir.  What cannot be started is left to the end of the run. */
void live_start(struct live *l, int dir, const char *name, int lifeline_fd);
/* Waits for all; targets that have it all are taken off the entry.  *@ret_gone: that was the last.
 */
void live_finish(struct live *l, struct outbox_entry *e, bool *ret_gone);

#endif /* RECORD_LIVE_H */
