// SPDX-License-Identifier: GPL-2.0-or-later
#include "probed/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/lend.h"
#include "log.h"
#include "probed/caller.h"
#include "probed/confine.h"
#include "probed/sessions.h"

#define BACKLOG 64

/* --- sockets ------------------------------------------------------------------------------- */

/* A socket nobody listens at any more, as one that was killed leaves behind. */
static bool is_left_over(const struct sockaddr_un *at)
{
	struct stat st;
	int fd, err;

	if (lstat(at->sun_path, &st) || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	err = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? errno : 0;
	close(fd);
	return err == ECONNREFUSED;
}

int probed_listen(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err = 0;
	mode_t mask;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (is_left_over(&at))
		unlink(path);
	mask = umask(0117);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, BACKLOG))
		err = -errno;
	umask(mask);
	if (!err)
		return fd;
	close(fd);
	return err;
}

bool probed_take_place(int per_user)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	/* An abstract name is held until its last descriptor is closed. */
	for (int i = 0; fd >= 0 && i < per_user; i++) {
		int len = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1,
				   "exitmeter-probed/%u/%d", (unsigned int)getuid(), i);

		if (!bind(fd, (struct sockaddr *)&at,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)))
			return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* --- one session --------------------------------------------------------------------------- */

static int may_look(void *caller, int n, pid_t pid, int proof)
{
	return caller_may_look(caller, n, pid, proof);
}

static int confine_now(void *caller)
{
	(void)caller;
	return confine_session();
}

static int serve_caller(int socket, struct caller *c, const struct probed_limits *limits)
{
	const struct lend_client client = { .socket = socket,
					    .process = c->process,
					    .pid = c->pid,
					    .uid = c->uid,
					    .gid = c->gid,
					    .silent_ms = limits->silent_s * 1000,
					    .ctx = c,
					    .may_look = may_look,
					    .confine = confine_now };

	return lend(&client);
}

int probed_session(int socket, const struct probed_limits *limits)
{
	struct caller c;
	int err = caller_identify(socket, &c);

	if (err)
		return err;
	err = serve_caller(socket, &c, limits);
	caller_close(&c);
	return err;
}

/* --- all of them --------------------------------------------------------------------------- */

static void on_child(int signo)
{
	(void)signo; /* only interrupts the wait */
}

static void reap(struct sessions *all)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		sessions_remove(all, pid);
}

static void become_session(int listening, int socket, struct caller *c,
			   const struct probed_limits *limits, const sigset_t *mask, pid_t server)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != server) /* it ended meanwhile */
		_exit(0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	close(listening);
	err = serve_caller(socket, c, limits);
	if (err)
		log_line("session of user %u, process %d: %s", (unsigned int)c->uid, (int)c->pid,
			 strerror(-err));
	_exit(err ? 1 : 0);
}

static void take_connection(int listening, struct sessions *all, const struct probed_limits *limits,
			    const sigset_t *mask)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC), err;
	pid_t pid, server = getpid();
	struct caller c;

	if (fd < 0)
		return;
	err = caller_identify(fd, &c);
	if (err) {
		lend_refuse(fd, err == -EXDEV ? "exitmeter-probed is in another pid namespace"
					      : "exitmeter-probed cannot tell who asks");
	} else if (!sessions_have_room(all, c.uid)) {
		lend_refuse(fd, "exitmeter-probed has no more sessions for this user");
	} else {
		pid = fork();
		if (!pid)
			become_session(listening, fd, &c, limits, mask, server);
		if (pid > 0)
			sessions_add(all, pid, c.uid);
		else
			lend_refuse(fd, "exitmeter-probed cannot fork");
	}
	if (!err)
		caller_close(&c);
	close(fd);
}

int probed_serve(int socket, const struct probed_limits *limits)
{
	struct sessions all = { .most = limits->sessions, .most_per_user = limits->per_user };
	const struct sigaction child = { .sa_handler = on_child };
	struct pollfd p = { .fd = socket, .events = POLLIN };
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigdelset(&before, SIGCHLD);
	sigaction(SIGCHLD, &child, NULL);
	for (;;) {
		int n = ppoll(&p, 1, NULL, &before);

		if (n < 0 && errno != EINTR)
			return -errno;
		reap(&all);
		if (n > 0)
			take_connection(socket, &all, limits, &before);
	}
}
