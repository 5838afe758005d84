// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugger PROGRAM ARG... - traces a program to its end, as a debugger does, and ends as it did
 *
 * 120 where ptrace() is refused; then the program runs all the same.
 */
#include "work.h"
#include <sys/ptrace.h>

int main(int argc, char **argv)
{
	bool traced = false;
	int status;
	pid_t pid;

	if (argc < 2)
		usage("PROGRAM ARG...");
	pid = fork_checked();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		exec_checked(argv + 1);
	}
	for (;;) {
		if (waitpid(pid, &status, 0) != pid)
			die("waitpid");
		if (!WIFSTOPPED(status))
			break;
		traced = true;
		ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	}
	if (!traced)
		return 120;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
