// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * together MIB... - one child per size, by exec, all resident at the same moment
 *
 * Each child touches its own and waits at a barrier; the parent then reads everyone's
 * smaps_rollup, its own last, and lets them go.  Prints the true sum as truth, and sum_children.
 */
#include "work.h"

static _Noreturn void child(char **argv)
{
	int ready = (int)number(argv[2]), go = (int)number(argv[3]);
	size_t bytes = number(argv[4]) * MIB;

	if (bytes)
		hold_small(bytes);
	byte_send(ready);
	byte_wait(go);
	end_now(0);
}

static pid_t child_start(int ready, int go, char *mib)
{
	char a[16], b[16];
	char *argv[] = { "together", "child", a, b, mib, NULL };
	pid_t pid;

	snprintf(a, sizeof(a), "%d", ready);
	snprintf(b, sizeof(b), "%d", go);
	pid = fork_checked();
	if (pid)
		return pid;
	execv("/proc/self/exe", argv);
	die("exec");
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	int ready[2], go[2];
	pid_t pids[64];

	if (argc == 5 && !strcmp(argv[1], "child"))
		child(argv);
	if (argc < 2 || argc > 64)
		usage("MIB...");
	pipe_checked(ready);
	pipe_checked(go);
	rss_bytes(0); /* so that the reading below adds nothing */
	for (int i = 1; i < argc; i++)
		pids[i] = child_start(ready[1], go[0], argv[i]);
	for (int i = 1; i < argc; i++)
		byte_wait(ready[0]);
	for (int i = 1; i < argc; i++)
		sum += rss_bytes(pids[i]);
	dprintf(1, "sum_children=%lu\n", sum);
	dprintf(1, "truth=%lu\n", sum + rss_bytes(0));
	for (int i = 1; i < argc; i++)
		byte_send(go[1]);
	for (int i = 1; i < argc; i++)
		if (reap(pids[i]))
			end_now(1);
	end_now(0);
}
