/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch - the command, forked and held before its exec until metering is ready
 *
 * The child gets the caller's signal mask, dispositions and descriptors as they were.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "capture/identity.h"

/* What to run, and what the caller was started with. */
struct launch_command {
	char *const *argv; /* found in $PATH as execvp does */
	const sigset_t *mask;
	const struct sigaction *sigchld;
	const struct identity *as; /* NULL: the caller's own */
};

struct launch {
	pid_t pid;
	pid_t own_group; /* it stopped with one that is not ours; 0 */
	int gate_fd;     /* writing one byte lets it go; closing it makes it end */
	int error_fd;    /* an errno if exec failed, end of file when it worked */
};

/* Forks and holds it.  0 and *@ret, or -errno. */
int launch_hold(const struct launch_command *c, struct launch *ret);

/* Lets it exec.  0 or -errno. */
int launch_go(struct launch *l);

/*
 * After it ended: the errno of an exec that failed, 0 when it worked; @ret_identity: it was not
 * tried, since the child could not become its user.
 */
int launch_error(struct launch *l, bool *ret_identity);

/*
 * Did it stop while it or we are in the terminal's foreground?  Then nobody gets the terminal back
 * unless we stop as well: after it, since it may have to tidy up the screen first.
 */
bool launch_stopped(struct launch *l);
/* We go on, so it does, with the terminal where that was its own group's. */
void launch_continue(const struct launch *l);
/* Told to stop, as it perhaps was: lets it go first, for at most 0.2 s. */
void launch_await_stop(const struct launch *l);

/* Ends a child that was never let go, and reaps it; the signal that had ended it before, 0. */
int launch_cancel(struct launch *l);

#endif /* LAUNCH_H */
