// SPDX-License-Identifier: GPL-2.0-or-later
#include "probed/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "units.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* 6.5 */
#endif

static int pidfd_of(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

/*
 * Without SO_PEERPIDFD the number may be another's by now: of one that started after we had the
 * connection.
 */
static int pidfd_of_older(pid_t pid, int64_t connected_ns)
{
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	struct proc_stat stat;
	int fd = pidfd_of(pid);

	if (fd < 0)
		return fd;
	if (scan_stat(pid, &stat) || (int64_t)stat.start_ticks > connected_ns / tick_ns ||
	    has_ended(fd)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

int caller_identify(int socket, struct caller *ret)
{
	struct caller c = { .process = -1, .proc = -1 };
	int64_t connected_ns = clock_ns(CLOCK_BOOTTIME);
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int err = 0;

	memset(c.roots, -1, sizeof(c.roots));
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.pid <= 0) /* not in our pid namespace */
		return -EXDEV;
	c.pid = cred.pid;
	c.uid = cred.uid;
	c.gid = cred.gid;
	len = sizeof(c.process);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &c.process, &len)) {
		if (errno != ENOPROTOOPT)
			return errno == ESRCH || errno == ENODATA ? -ESRCH : -errno;
		c.process = pidfd_of_older(c.pid, connected_ns);
		if (c.process < 0)
			return c.process;
	}
	c.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.proc < 0)
		err = -errno;
	if (!err && has_ended(c.process))
		err = -ESRCH;
	if (err)
		caller_close(&c);
	else
		*ret = c;
	return err;
}

/* Whether @proof is what /proc has for the process that has the number now, and that is its own. */
static int check_proof(const struct caller *c, pid_t pid, int proof)
{
	struct stat proc, shown, now;
	char path[32];

	snprintf(path, sizeof(path), "%d/auxv", (int)pid);
	if (fstat(c->proc, &proc) || fstat(proof, &shown))
		return -errno;
	if (shown.st_dev != proc.st_dev)
		return S_ISREG(shown.st_mode) ? -EXDEV : -EACCES;
	if (fstatat(c->proc, path, &now, AT_SYMLINK_NOFOLLOW))
		return -ESRCH;
	/*
	 * The open file keeps its inode, so the number is that process's.  It belongs to root once
	 * the process has executed something that its user may not trace.
	 */
	if (shown.st_ino != now.st_ino || now.st_dev != proc.st_dev)
		return -EACCES;
	return now.st_uid == c->uid || !c->uid ? 0 : -EACCES;
}

int caller_may_look(struct caller *c, int n, pid_t pid, int proof)
{
	if (n < 0 || n >= CALLER_ROOTS_MAX || pid <= 0)
		return -EINVAL;
	if (c->roots[n] < 0) {
		c->roots[n] = pidfd_of(pid);
		if (c->roots[n] < 0)
			return c->roots[n];
	}
	if (has_ended(c->roots[n]))
		return -ESRCH;
	return check_proof(c, pid, proof);
}

void caller_close(struct caller *c)
{
	for (int i = 0; i < CALLER_ROOTS_MAX; i++)
		if (c->roots[i] >= 0)
			close(c->roots[i]);
	if (c->process >= 0)
		close(c->process);
	if (c->proc >= 0)
		close(c->proc);
	memset(c->roots, -1, sizeof(c->roots));
	c->process = c->proc = -1;
}
