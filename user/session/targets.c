// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/targets.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "procfs/scan.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h; /proc/PID/stat field 9 */

/* Whether we may look into it; /proc asks the same of whoever reads the link. */
static int may_look(pid_t pid)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, target, sizeof(target)) >= 0 || errno == ENOENT)
		return 0;
	return -errno;
}

static bool has_ended(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* What /proc says of it; where that is another namespace's the descriptor has to do. */
static int look_at(pid_t pid)
{
	struct proc_stat stat = { 0 };
	int err;

	if (scan_available())
		return 0;
	err = scan_stat(pid, &stat);
	if (err) {
		log_line("no process %d", (int)pid);
		return err;
	}
	if (stat.flags & PF_KTHREAD) {
		log_line("process %d is a kernel thread", (int)pid);
		return -EINVAL;
	}
	err = geteuid() ? may_look(pid) : 0;
	if (err)
		log_line("process %d is another user's: %s", (int)pid, strerror(-err));
	return err;
}

static int open_one(pid_t pid, struct target *ret)
{
	int err;

	*ret = (struct target){ .pid = pid, .fd = -1 };
	if (pid == getpid()) {
		log_line("process %d is exitmeter itself", (int)pid);
		return -EINVAL;
	}
	ret->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = ret->fd < 0 ? -errno : 0;
	if (err == -EINVAL)
		log_line("%d is a thread, not a process", (int)pid);
	else if (err == -ESRCH)
		log_line("no process %d", (int)pid);
	else if (err)
		log_line("process %d: %s", (int)pid, strerror(-err));
	if (err)
		return err;
	/* Not by its state: a leader that ended before other threads is a zombie too. */
	if (has_ended(ret->fd)) {
		log_line("process %d has ended already", (int)pid);
		return -ESRCH;
	}
	return look_at(pid);
}

int targets_open(const struct config *c, struct targets *ret)
{
	struct targets t = { .at = calloc(c->n_pids, sizeof(struct target)) };
	int err = t.at ? 0 : -ENOMEM;

	for (; !err && t.n < c->n_pids; t.n++)
		err = open_one(c->pids[t.n], &t.at[t.n]);
	if (err)
		targets_close(&t);
	*ret = t;
	return err;
}

bool targets_see(struct targets *t, int fd)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i].fd != fd)
			continue;
		if (has_ended(fd)) {
			close(fd);
			t->at[i].fd = -1;
			t->ended++;
		}
		return true;
	}
	return false;
}

bool targets_changed(const struct targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].fd < 0 || has_ended(t->at[i].fd))
			return true;
	return false;
}

void targets_close(struct targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].fd >= 0)
			close(t->at[i].fd);
	free(t->at);
	*t = (struct targets){ 0 };
}
