// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waiter OUT COMMAND... - runs a command and writes the kernel's word about it into OUT
 *
 * wait4 of the command, its own waited children included: pid, exit, signal, core, cpu_us,
 * minflt, majflt, nvcsw, nivcsw, maxrss.  Ends with 0 however the command ended.
 */
#include "work.h"

int main(int argc, char **argv)
{
	struct rusage ru;
	int fd, status;
	pid_t pid;

	if (argc < 3)
		usage("OUT COMMAND...");
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die(argv[1]);
	pid = fork_checked();
	if (!pid)
		exec_checked(argv + 2);
	while (wait4(pid, &status, 0, &ru) != pid)
		if (errno != EINTR)
			die("wait4");
	dprintf(fd, "pid=%d\nexit=%d\nsignal=%d\ncore=%d\n", pid,
		WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		WIFSIGNALED(status) && WCOREDUMP(status) ? 1 : 0);
	dprintf(fd, "cpu_us=%lu\nminflt=%ld\nmajflt=%ld\nnvcsw=%ld\nnivcsw=%ld\nmaxrss=%ld\n",
		rusage_us(&ru), ru.ru_minflt, ru.ru_majflt, ru.ru_nvcsw, ru.ru_nivcsw,
		ru.ru_maxrss * 1024);
	return 0;
}
