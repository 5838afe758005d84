// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * samepid - several processes with the same pid, one after another
 *
 *   samepid last N   in this pid namespace, by ns_last_pid; others who fork meanwhile may take
 *                    the pid, so it is tried until it works
 *   samepid ns N     each the first process (pid 1) of a pid namespace of its own
 *
 * The i-th ends with 10 + i.  Prints pid (as this namespace sees it, a line each) and forks.
 */
#include "work.h"

#define USAGE      "last|ns N"
#define TRIES      2000
#define MISSED     99
#define FIRST_CODE 10

/* Forks with @pid as the wished one (0: any); the child ends with @code if it got it. */
static pid_t child_once(pid_t pid, int code, int *ret_status)
{
	char text[16];
	pid_t got;
	int fd, n;

	if (pid) {
		fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
		n = snprintf(text, sizeof(text), "%d", pid - 1);
		if (fd < 0 || write(fd, text, (size_t)n) != n)
			die("ns_last_pid");
		close(fd);
	}
	got = fork_checked();
	if (!got)
		end_now(!pid || getpid() == pid ? code : MISSED);
	*ret_status = reap(got);
	return got;
}

static int by_last_pid(int n)
{
	int status, forks = 0, have = 0;
	pid_t pid = 0;

	for (int tries = 0; have < n && tries < TRIES; tries++, forks++) {
		pid_t got = child_once(pid, FIRST_CODE + have, &status);

		if (shell_code(status) == MISSED)
			continue;
		pid = got;
		have++;
		dprintf(1, "pid=%d\n", got);
	}
	dprintf(1, "forks=%d\n", forks);
	return have == n ? 0 : 1;
}

static int by_namespace(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork_checked();

		if (!pid) {
			if (unshare(CLONE_NEWPID))
				die("unshare");
			pid = fork_checked();
			if (!pid)
				end_now(getpid() == 1 ? FIRST_CODE + i : MISSED);
			dprintf(1, "pid=%d\n", pid);
			end_now(shell_code(reap(pid)));
		}
		if (shell_code(reap(pid)) != FIRST_CODE + i)
			return 1;
	}
	dprintf(1, "forks=%d\n", 2 * n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "last"))
		return by_last_pid((int)number(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "ns"))
		return by_namespace((int)number(argv[2]));
	usage(USAGE);
}
