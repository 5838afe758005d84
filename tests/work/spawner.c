// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spawner MIB HOW ... - a parent that holds MIB starts one child in the given way
 *
 *   fork|vfork|spawn PROGRAM ARG...   child, then exec
 *   copy MS                           fork child that touches nothing and waits MS
 *   pause MS PROGRAM ARG...           vfork child that waits MS before its exec
 *   clonevm MIB2                      CLONE_VM child (no thread) that touches MIB2 more
 *   zombie TELL WAIT PROGRAM ARG...   fork+exec, never waited for: when it is a zombie, the
 *                                     parent writes the child's pid to the fifo TELL and ends
 *                                     when a byte comes from the fifo WAIT
 *
 * Prints rss (of the parent while it holds), child (pid) and, where the child was waited for,
 * its maxrss as wait4 gives it and its code as a shell would.
 */
#include "work.h"
#include <spawn.h>

#define USAGE "MIB fork|vfork|spawn|copy|pause|clonevm|zombie ..."

extern char **environ;

/* vfork in a function of its own, the child's part with nothing but idle and exec. */
static pid_t vfork_exec(unsigned long ms, char **argv)
{
	pid_t pid = vfork();

	if (pid < 0)
		die("vfork");
	if (!pid) {
		if (ms)
			idle_ms(ms);
		execvp(argv[0], argv);
		_exit(111);
	}
	return pid;
}

static pid_t fork_exec(char **argv)
{
	pid_t pid = fork_checked();

	if (!pid)
		exec_checked(argv);
	return pid;
}

static pid_t spawn(char **argv)
{
	pid_t pid;

	errno = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (errno)
		die(argv[0]);
	return pid;
}

static pid_t fork_copy(unsigned long ms)
{
	pid_t pid = fork_checked();

	if (!pid) {
		idle_ms(ms);
		end_now(0);
	}
	return pid;
}

static int clone_child(void *bytes)
{
	hold_small(*(size_t *)bytes);
	syscall(SYS_exit, 0); /* not exit(): the memory with its handlers is the parent's */
	return 0;
}

static pid_t clone_vm(size_t bytes)
{
	char *stack = map_small(256 * 1024);
	pid_t pid = clone(clone_child, stack + 256 * 1024, CLONE_VM | SIGCHLD, &bytes);

	if (pid < 0)
		die("clone");
	reap(pid); /* here, so that @bytes stays valid */
	return pid;
}

static void zombie(const char *tell, const char *wait, char **argv)
{
	pid_t pid = fork_exec(argv);
	siginfo_t si;
	FILE *f;

	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT))
		die("waitid");
	f = fopen(tell, "we");
	if (!f)
		die(tell);
	fprintf(f, "%d\n", pid);
	fclose(f);
	fifo_wait(wait);
	end_now(0);
}

int main(int argc, char **argv)
{
	struct rusage ru;
	const char *how;
	pid_t pid = -1;
	int status = 0;

	if (argc < 4)
		usage(USAGE);
	how = argv[2];
	if (number(argv[1]))
		hold_small(number(argv[1]) * MIB);
	rss_bytes(0);
	dprintf(1, "rss=%lu\n", rss_bytes(0));

	if (!strcmp(how, "fork"))
		pid = fork_exec(argv + 3);
	else if (!strcmp(how, "vfork"))
		pid = vfork_exec(0, argv + 3);
	else if (!strcmp(how, "spawn"))
		pid = spawn(argv + 3);
	else if (!strcmp(how, "copy"))
		pid = fork_copy(number(argv[3]));
	else if (!strcmp(how, "pause") && argc > 4)
		pid = vfork_exec(number(argv[3]), argv + 4);
	else if (!strcmp(how, "zombie") && argc > 5)
		zombie(argv[3], argv[4], argv + 5);
	else if (!strcmp(how, "clonevm"))
		pid = clone_vm(number(argv[3]) * MIB);
	else
		usage(USAGE);

	dprintf(1, "child=%d\n", pid);
	if (!strcmp(how, "clonevm")) {
		dprintf(1, "rss_after=%lu\n", rss_bytes(0));
		end_now(0);
	}
	while (wait4(pid, &status, 0, &ru) != pid)
		if (errno != EINTR)
			die("wait4");
	dprintf(1, "maxrss=%ld\ncode=%d\n", ru.ru_maxrss * 1024, shell_code(status));
	end_now(0);
}
