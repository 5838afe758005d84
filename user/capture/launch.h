/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch - the command, forked and held before its exec until metering is ready
 *
 * The child gets the caller's signal mask, dispositions and descriptors as they were.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <signal.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int gate_fd;  /* writing one byte lets it go; closing it makes it end */
	int error_fd; /* an errno if exec failed, end of file when it worked */
};

/*
 * Forks and holds @argv (found in $PATH as execvp does).  @mask and @sigchld: what the caller was
 * started with.  0 and *@ret, or -errno.
 */
int launch_hold(char *const argv[], const sigset_t *mask, const struct sigaction *sigchld,
		struct launch *ret);

/* Lets it exec.  0 or -errno. */
int launch_go(struct launch *l);

/* After it ended: the errno of an exec that failed, 0 when it worked. */
int launch_error(struct launch *l);

/* Ends a child that was never let go, and reaps it. */
void launch_cancel(struct launch *l);

#endif /* LAUNCH_H */
