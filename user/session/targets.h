/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets - the processes that exitmeter attaches to, held by descriptor so that a number that is
 * used again is never taken for one of them
 */
#ifndef TARGETS_H
#define TARGETS_H

#include <stddef.h>
#include <sys/types.h>

#include "config.h"

struct target {
	pid_t pid;
	int fd; /* pidfd, readable once it has ended; -1: seen to have ended */
};

struct targets {
	struct target *at;
	size_t n;
	size_t ended;
};

/*
 * Opens all of @c->pids.  0, or -errno and one line said: there is none, it is a kernel thread, it
 * is exitmeter, it has ended, it is another user's.
 */
int targets_open(const struct config *c, struct targets *ret);
/* Looks at the one whose descriptor @fd is; true if it is one. */
bool targets_see(struct targets *t, int fd);
/* Whether one of them has ended by now. */
bool targets_changed(const struct targets *t);
void targets_close(struct targets *t);

#endif /* TARGETS_H */
