/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_own - a fresh cgroup for the command: its peak, and who was killed in it (SPEC L-50, L-53)
 *
 * Where limits of the cgroup we are in go on to hold: below it, or with version 2, where only the
 * top and cgroups without processes may have such below them, we go out of its way if we are alone
 * there, or it is beside ours if that has no limits.  The folder is locked as long as we live: one
 * that is not was left by an exitmeter that was killed, and goes when nobody is in it any more.
 */
#ifndef HOST_CGROUP_OWN_H
#define HOST_CGROUP_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_own {
	int64_t version;  /* 1 or 2 */
	int fd;           /* its folder; -1: there is none */
	char *path;       /* of it, */
	char *home;       /* of the cgroup we were in, which those that go on return to */
	char *leaf;       /* and of one that we are in meanwhile; NULL */
	char reason[512]; /* why there is none; "" */
};

/* What it came to; UNKNOWN: not to be had. */
struct cgroup_use {
	int64_t peak_bytes; /* page cache and kernel memory included */
	int64_t oom_kills;  /* processes of it that the OOM killer ended */
};

/* Makes it and moves @child in, which must not run yet.  Without, @o->reason. */
void cgroup_own_open(struct cgroup_own *o, pid_t child);
/* Before it is closed.  Where the peak is unknown @o->reason. */
struct cgroup_use cgroup_own_read(struct cgroup_own *o);
/* Moves out who is left, and removes it. */
void cgroup_own_close(struct cgroup_own *o);

#endif /* HOST_CGROUP_OWN_H */
