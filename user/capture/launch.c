// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void child_main(int gate, int error, char *const argv[], const sigset_t *mask,
		       const struct sigaction *sigchld)
{
	ssize_t n;
	char go;
	int err;

	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* nobody lets us go: exitmeter gave up */
		_exit(125);
	sigaction(SIGCHLD, sigchld, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(error, &err, sizeof(err)) < 0)
		_exit(125);
	_exit(err == ENOENT || err == ENOTDIR ? 127 : 126);
}

int launch_hold(char *const argv[], const sigset_t *mask, const struct sigaction *sigchld,
		struct launch *ret)
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
		child_main(gate[0], error[1], argv, mask, sigchld);
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

int launch_error(struct launch *l)
{
	int err = 0;

	if (read(l->error_fd, &err, sizeof(err)) != (ssize_t)sizeof(err))
		err = 0;
	close(l->error_fd);
	l->error_fd = -1;
	return err;
}

void launch_cancel(struct launch *l)
{
	close_fd(l->gate_fd);
	close_fd(l->error_fd);
	while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
