// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the child's end, letting it go on at each stop; 0 when it stopped on its way out. */
static int follow(pid_t pid)
{
	int status, err = -EIO;
	pid_t got;

	for (;;) {
		got = waitpid(pid, &status, 0);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			continue;
		if (!WIFSTOPPED(status))
			return err;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			err = 0;
		if (ptrace(PTRACE_CONT, pid, NULL, NULL))
			kill(pid, SIGKILL);
	}
}

int source_ptrace_probe(void)
{
	int gate[2], err = 0, followed;
	char byte;
	pid_t pid;

	if (pipe(gate))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(gate[0]);
		close(gate[1]);
		return err;
	}
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) < 0 ? 1 : 0);
	}
	close(gate[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(intptr_t)PTRACE_O_TRACEEXIT))
		err = -errno;
	close(gate[1]);
	followed = follow(pid);
	return err ? err : followed;
}
