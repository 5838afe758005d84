/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load - looks at what all processors have done, on a descriptor that is kept
 */
#ifndef HOST_LOAD_H
#define HOST_LOAD_H

#include "model/load.h"

struct load_source {
	int fd;          /* /proc/stat; -1: it is not to be had */
	int64_t tick_ns; /* UNKNOWN: not known */
};

void load_open(struct load_source *s);
void load_close(struct load_source *s);
/* Fills all but tree_ns: the time, the machine's counters, exitmeter's own CPU. */
void load_read(const struct load_source *s, struct load_reading *ret);

/*
 * Watches the machine for @window_ns, or a shortest span where that is longer, and judges the
 * window (H-10).  Only exitmeter itself is its own.  0, -EINTR: a signal came, or -ENOMEM.
 */
int load_watch_host(const struct load_source *s, int64_t window_ns, struct host_load *ret);

#endif /* HOST_LOAD_H */
