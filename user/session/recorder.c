// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "output.h"
#include "programs.h"
#include "units.h"

#define PROGRAM          "record"
#define PROGRAM_FILE     "exitmeter-record"
#define RECORDER_WAIT_MS 2000

void recorder_init(struct recorder *r)
{
	*r = (struct recorder){ .journal_fd = -1, .lifeline_fd = -1, .said_fd = -1, .dir_fd = -1 };
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the grandchild: a session of its own, so that no terminal's signal takes it with the run. */
static void become(const struct config *c, const struct recorder *r, int lifeline, int said)
{
	char spool[4096], option[4096 + 16], await[32];
	const char *argv[] = { PROGRAM_FILE, "--replay", await, option, r->name, NULL };
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (!outbox_dir(c->spool, spool, sizeof(spool)))
		_exit(STATUS_FAILED);
	snprintf(option, sizeof(option), "--spool=%s", spool);
	snprintf(await, sizeof(await), "--await=%d", lifeline);
	setsid();
	if (dup2(nothing, STDIN_FILENO) == STDIN_FILENO &&
	    dup2(said, STDOUT_FILENO) == STDOUT_FILENO &&
	    dup2(said, STDERR_FILENO) == STDERR_FILENO && !fcntl(lifeline, F_SETFD, 0))
		program_exec(PROGRAM, (char *const *)argv);
	_exit(STATUS_FAILED);
}

/* Not our child: nobody has to wait for it. */
static int start(const struct config *c, struct recorder *r)
{
	int lifeline[2], said[2];
	pid_t pid;
	int err = program_there(PROGRAM);

	if (err)
		return err;
	if (pipe2(lifeline, O_CLOEXEC))
		return -errno;
	if (pipe2(said, O_CLOEXEC)) {
		err = -errno;
		close(lifeline[0]);
		close(lifeline[1]);
		return err;
	}
	pid = fork();
	if (!pid) {
		if (!fork())
			become(c, r, lifeline[0], said[1]);
		_exit(0);
	}
	err = pid < 0 ? -errno : 0;
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(lifeline[0]);
	close(said[1]);
	r->lifeline_fd = lifeline[1];
	r->said_fd = said[0];
	return err;
}

static int open_entry(const struct config *c, struct recorder *r)
{
	int err = outbox_open(c->spool, &r->dir_fd);

	if (!err)
		err = outbox_new(r->dir_fd, (const char *const *)c->to, c->n_to, r->name,
				 &r->journal_fd);
	return err;
}

void recorder_open(const struct config *c, struct recorder *r)
{
	int err;

	recorder_init(r);
	if (!c->n_to)
		return;
	err = open_entry(c, r);
	if (err) {
		log_line("not recorded: the spool cannot be written: %s", outbox_error(err));
		return;
	}
	err = start(c, r);
	if (err)
		log_line(PROGRAM_FILE ": %s: the run stays in the spool",
			 err == -ENOENT ? "not installed" : strerror(-err));
}

/* Its lines are whole messages of exitmeter's. */
static void pass_on(int said_fd)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + RECORDER_WAIT_MS * NS_PER_MS;
	char text[4096];
	int64_t left_ns;

	while ((left_ns = until_ns - clock_ns(CLOCK_MONOTONIC)) > 0) {
		struct pollfd p = { .fd = said_fd, .events = POLLIN };
		int ready = poll(&p, 1, (int)(left_ns / NS_PER_MS) + 1);
		ssize_t n = ready > 0 ? read(said_fd, text, sizeof(text)) : -1;

		if (ready > 0 && n == 0)
			return;
		if (n > 0)
			write_all(STDERR_FILENO, text, (size_t)n);
		else if (ready < 0 && errno != EINTR)
			return;
	}
	log_line("recording goes on in the background");
}

void recorder_close(struct recorder *r)
{
	close_fd(&r->journal_fd);
	close_fd(&r->lifeline_fd);
	if (r->said_fd >= 0)
		pass_on(r->said_fd);
	close_fd(&r->said_fd);
	close_fd(&r->dir_fd);
}
