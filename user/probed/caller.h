/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * caller - who is at the other end of a socket, and whom it may look at
 */
#ifndef CALLER_H
#define CALLER_H

#include <sys/types.h>

#define CALLER_ROOTS_MAX 64

struct caller {
	pid_t pid; /* as it connected, in our pid namespace */
	uid_t uid;
	gid_t gid;
	int process;                 /* a pidfd of it */
	int proc;                    /* /proc */
	int roots[CALLER_ROOTS_MAX]; /* pidfds, once it may look at them; -1 */
};

/*
 * 0 and *@ret, which caller_close closes; -ESRCH: it has ended; -EXDEV: it sees other pids than
 * we do; or another -errno.
 */
int caller_identify(int socket, struct caller *ret);

/*
 * May it look at the process @pid, its @n-th?  @proof: an open /proc/PID/auxv, which the kernel
 * gives to whom ptrace's rules allow to read that process.  Asked once more, the number must still
 * be that process's.  0; -EACCES, -ESRCH, -EXDEV or another -errno.
 */
int caller_may_look(struct caller *c, int n, pid_t pid, int proof);

void caller_close(struct caller *c);

#endif /* CALLER_H */
