/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logger - what a tool costs that stops its command at every system call; for comparison
 *
 * usage: logger COMMAND [ARG...]
 *
 * Follows all threads and children by PTRACE_SYSCALL and counts the stops, no more than that.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

static void fail(const char *what)
{
	fprintf(stderr, "logger: %s: %s\n", what, strerror(errno));
	exit(125);
}

static pid_t start(char **argv)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe(gate))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0)
			_exit(125);
		close(gate[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(intptr_t)OPTIONS) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		fail("ptrace");
	close(gate[0]);
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	int status, code = 125, signo;
	unsigned long calls = 0;
	pid_t root, pid;

	if (argc < 2) {
		fprintf(stderr, "usage: logger COMMAND [ARG...]\n");
		return 2;
	}
	root = start(argv + 1);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == root)
				code = WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status);
			continue;
		}
		signo = WSTOPSIG(status);
		calls += signo == (SIGTRAP | 0x80);
		if (status >> 16 || signo == (SIGTRAP | 0x80))
			signo = 0;
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signo);
	}
	if (getenv("LOGGER_SAYS"))
		fprintf(stderr, "logger: %lu stops at system calls\n", calls);
	return code;
}
