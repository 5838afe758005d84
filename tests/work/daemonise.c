// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemonise HOW MIB MS OUT - a daemon by double fork and setsid
 *
 *   leave   the first parent ends as soon as the daemon is on its own
 *   stay    it ends when the daemon has ended, which it did not wait for (another does)
 *   ignore  no daemon: SIGCHLD ignored, MS children, one at a time, touch MIB each and are
 *           never waited for
 *
 * The daemon touches MIB, burns MS and writes middle, daemon (pids), rss and cpu_us into OUT.
 */
#include "work.h"
#include <poll.h>

#define USAGE "leave|stay|ignore MIB MS OUT"

static _Noreturn void daemon_run(pid_t middle, int go, size_t bytes, uint64_t ns, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		die(path);
	byte_wait(go); /* also the end of the pipe: the first parent has left */
	if (bytes)
		hold_small(bytes);
	burn_ns(CLOCK_PROCESS_CPUTIME_ID, ns);
	rss_bytes(0);
	dprintf(fd, "middle=%d\ndaemon=%d\nrss=%lu\n", middle, getpid(), rss_bytes(0));
	dprintf(fd, "cpu_us=%lu\n", clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) / NS_PER_US);
	end_now(0);
}

static void process_wait(pid_t pid, int go)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		die("pidfd_open");
	byte_send(go);
	while (poll(&p, 1, -1) != 1)
		if (errno != EINTR)
			die("poll");
}

static int children_ignored(size_t bytes, unsigned long n)
{
	signal(SIGCHLD, SIG_IGN);
	for (; n; n--) {
		if (!fork_checked()) {
			hold_small(bytes);
			end_now(0);
		}
		while (wait(NULL) >= 0) /* returns when all are gone: ECHILD */
			;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int pid_pipe[2], go[2];
	pid_t middle, daemon;
	size_t bytes;

	if (argc != 5)
		usage(USAGE);
	bytes = number(argv[2]) * MIB;
	if (!strcmp(argv[1], "ignore"))
		return children_ignored(bytes, number(argv[3]));
	pipe_checked(pid_pipe);
	pipe_checked(go);
	middle = fork_checked();
	if (!middle) {
		pid_t self = getpid();

		setsid();
		daemon = fork_checked();
		if (!daemon) {
			close(go[1]);
			daemon_run(self, go[0], bytes, number(argv[3]) * NS_PER_MS, argv[4]);
		}
		if (write(pid_pipe[1], &daemon, sizeof(daemon)) != sizeof(daemon))
			die("write");
		end_now(0);
	}
	if (read(pid_pipe[0], &daemon, sizeof(daemon)) != sizeof(daemon))
		die("read");
	reap(middle);
	if (!strcmp(argv[1], "stay"))
		process_wait(daemon, go[1]);
	end_now(0);
}
