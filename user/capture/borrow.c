// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/borrow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "programs.h"

#define ANSWER_S 10

/* Neither side waits for ever. */
static void set_patience(int fd)
{
	const struct timeval t = { .tv_sec = ANSWER_S };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	set_patience(fd);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* Becomes the helper; it is nobody's child, so that no one waits for it. */
static void become_helper(int socket)
{
	static char *const argv[] = { "exitmeter-probed", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (fork())
		_exit(0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* the terminal's are for the command */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	if (null < 0 || dup2(socket, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	program_exec("probed", argv);
	_exit(1);
}

/* Only one that may more than we do is of any use. */
static int start_helper(void)
{
	char path[PATH_MAX + 64], none[1];
	int pair[2], err;
	pid_t pid;

	err = program_find("probed", path, sizeof(path));
	if (err)
		return err;
	if (getxattr(path, "security.capability", none, 0) <= 0)
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	err = pid < 0 ? -errno : 0;
	if (!pid)
		become_helper(pair[1]);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	set_patience(pair[0]);
	return pair[0];
}

int borrow_connect(char *why, size_t cap)
{
	const char *path = getenv(PROBED_VARIABLE);
	int fd, started;

	*why = '\0';
	if (path && !*path)
		return -ENOENT;
	fd = connect_to(path ? path : PROBED_SOCKET);
	if (!path && (fd == -ENOENT || fd == -ECONNREFUSED || fd == -EACCES)) {
		started = start_helper();
		fd = started >= 0 ? started : fd;
	}
	if (fd < 0 && (path || fd != -ENOENT))
		snprintf(why, cap, "exitmeter-probed at %s: %s", path ? path : PROBED_SOCKET,
			 strerror(-fd));
	return fd;
}

int borrow_proof(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}
