// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "units.h"

#define FOLLOW_NS  (20 * NS_PER_MS)
#define STEP_NS    (5 * NS_PER_MS)
#define STOP_STEPS 40

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* What the child says when its exec failed. */
struct failure {
	int err;
	bool identity; /* it could not even become its user */
};

static void child_main(int gate, int error, const struct launch_command *c)
{
	struct failure f = { 0 };
	ssize_t n;
	char go;

	/* Where yama allows only ancestors to trace: a process of exitmeter's may, until we run. */
	prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	if (n != 1) /* nobody lets us go: exitmeter gave up */
		_exit(125);
	if (c->as)
		f.err = -identity_assume(c->as);
	f.identity = f.err;
	sigaction(SIGCHLD, c->sigchld, NULL);
	sigprocmask(SIG_SETMASK, c->mask, NULL);
	if (!f.err) {
		execvp(c->argv[0], c->argv);
		f.err = errno;
	}
	if (write(error, &f, sizeof(f)) < 0 || f.identity)
		_exit(125);
	_exit(f.err == ENOENT || f.err == ENOTDIR ? 127 : 126);
}

int launch_hold(const struct launch_command *c, struct launch *ret)
{
	int gate[2] = { -1, -1 }, error[2] = { -1, -1 }, err = 0;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto out;
	}
	if (pid == 0) {
		close(gate[1]);
		close(error[0]);
		child_main(gate[0], error[1], c);
	}
	*ret = (struct launch){ .pid = pid, .gate_fd = gate[1], .error_fd = error[0] };
	gate[1] = error[0] = -1; /* now the caller's */
out:
	close_fd(gate[0]);
	close_fd(gate[1]);
	close_fd(error[0]);
	close_fd(error[1]);
	return err;
}

int launch_go(struct launch *l)
{
	ssize_t n;

	do
		n = write(l->gate_fd, "", 1);
	while (n < 0 && errno == EINTR);
	close(l->gate_fd);
	l->gate_fd = -1;
	return n == 1 ? 0 : -errno;
}

int launch_error(struct launch *l, bool *ret_identity)
{
	struct failure f = { 0 };

	if (read(l->error_fd, &f, sizeof(f)) != (ssize_t)sizeof(f))
		f = (struct failure){ 0 };
	close(l->error_fd);
	l->error_fd = -1;
	*ret_identity = f.identity;
	return f.err;
}

int launch_cancel(struct launch *l)
{
	int status = 0;

	close_fd(l->gate_fd);
	close_fd(l->error_fd);
	while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int terminal_open(void)
{
	return open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
}

/* The terminal's foreground process group, -1 without a terminal. */
static pid_t foreground_group(void)
{
	int tty = terminal_open();
	pid_t group = tty < 0 ? -1 : tcgetpgrp(tty);

	close_fd(tty);
	return group;
}

static bool happened(pid_t pid, int options)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, options | WNOHANG) && info.si_pid == pid;
}

void launch_await_stop(const struct launch *l)
{
	const struct timespec moment = { .tv_nsec = STEP_NS };

	for (int i = 0; i < STOP_STEPS && !happened(l->pid, WSTOPPED | WNOWAIT); i++)
		nanosleep(&moment, NULL);
}

bool launch_stopped(struct launch *l)
{
	const struct timespec moment = { .tv_nsec = FOLLOW_NS };
	pid_t foreground, group = getpgid(l->pid);

	if (!happened(l->pid, WSTOPPED | WNOWAIT))
		return false;
	foreground = foreground_group();
	if (foreground < 0 || (foreground != getpgrp() && foreground != group))
		return false;
	/* After fg both go on, but perhaps we before it: then this was the stop before. */
	nanosleep(&moment, NULL);
	if (!happened(l->pid, WSTOPPED))
		return false;
	l->own_group = group != getpgrp() ? group : 0;
	return true;
}

void launch_continue(const struct launch *l)
{
	int tty;

	/* Whoever continued us gave the terminal to our group: a shell did not notice. */
	if (l->own_group && foreground_group() == getpgrp()) {
		tty = terminal_open();
		tcsetpgrp(tty, l->own_group);
		close_fd(tty);
	}
	if (!happened(l->pid, WCONTINUED))
		kill(l->own_group ? -l->own_group : l->pid, SIGCONT);
}
