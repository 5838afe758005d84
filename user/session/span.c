// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/span.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "log.h"
#include "model/request.h"
#include "session/channel.h"

#define ANSWER_MAX    1024
#define PATIENCE_S    10 /* an exitmeter that was stopped does not stop us */
#define STATUS_FAULTY 1

static void print_help(void)
{
	printf("Usage: exitmeter span NAME [-- COMMAND [ARG...]]\n"
	       "Name a part of the run that exitmeter meters, from inside it: NAME alone begins a\n"
	       "phase; with a command the attempt NAME lasts as long as that.  Outside a run the\n"
	       "command just runs.\n\n"
	       "Exit status: the command's; without one 0, 1 the name was refused.\n");
}

/* The socket of the run around us, -1 outside any. */
static int channel_of_run(void)
{
	const char *name = getenv(CHANNEL_VARIABLE);
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len;
	int fd;

	if (!name || strncmp(name, "unix:", 5) != 0)
		return -1;
	name += 5;
	len = strlen(name);
	if (!len || len >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	len += offsetof(struct sockaddr_un, sun_path) + (*name != '@');
	if (!connect(fd, (struct sockaddr *)&address, (socklen_t)len))
		return fd;
	close(fd);
	return -1;
}

static bool send_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

/* One line; the rest of it, if it is too long, is left out. */
static bool read_line(int fd, char answer[ANSWER_MAX])
{
	size_t len = 0;
	char c;

	for (;;) {
		ssize_t n = recv(fd, &c, 1, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (c == '\n')
			break;
		if (len < ANSWER_MAX - 1)
			answer[len++] = c;
	}
	answer[len] = '\0';
	return true;
}

/* False, and one line said, when it was refused.  A run that has gone refuses nothing. */
static bool ask(int fd, const char *what, const char *name)
{
	char *line, answer[ANSWER_MAX];
	bool there;
	int len;

	if (fd < 0)
		return true;
	len = asprintf(&line, "%s %s\n", what, name);
	if (len < 0)
		return false;
	there = send_all(fd, line, (size_t)len) && read_line(fd, answer);
	free(line);
	if (!there || strncmp(answer, "error ", 6) != 0)
		return true;
	log_line("span '%s': %s", name, answer + 6);
	return false;
}

static int run_command(char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit, child;
	const struct sigaction wait_for_it = { .sa_handler = SIG_DFL };
	int status = 0;
	pid_t pid;

	/* As a shell: the keyboard's signals are the command's. */
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	/* Where it was ignored, nobody could be waited for. */
	sigaction(SIGCHLD, &wait_for_it, &child);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		sigaction(SIGCHLD, &child, NULL);
		execvp(argv[0], argv);
		log_line("cannot run '%s': %s", argv[0], strerror(errno));
		_exit(errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND
							  : STATUS_NOT_EXECUTABLE);
	}
	if (pid < 0) {
		log_line("cannot fork: %s", strerror(errno));
		return STATUS_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether the name fits on a line of its own. */
static bool name_fits(const char *name)
{
	if (!*name || strpbrk(name, "\n\r"))
		log_line("span: a name of one line is needed");
	else if (strlen(name) > REQUEST_LINE_MAX - sizeof("attempt start "))
		log_line("span: the name is too long");
	else
		return true;
	return false;
}

int span_main(char **argv)
{
	char **command = argv[1] && argv[2] && !strcmp(argv[2], "--") ? argv + 3 : NULL;
	bool known;
	int fd, status;

	if (argv[1] && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		print_help();
		return fflush(stdout) ? STATUS_FAILED : 0;
	}
	if (!argv[1] || (argv[2] && (!command || !*command))) {
		log_line("span: NAME [-- COMMAND...] (see exitmeter span --help)");
		return STATUS_FAILED;
	}
	/* A name that cannot be is told; the command is not held back by it. */
	known = name_fits(argv[1]);
	fd = known ? channel_of_run() : -1;
	if (!command) {
		known = known && ask(fd, "phase", argv[1]);
		if (fd >= 0)
			close(fd);
		return known ? 0 : STATUS_FAULTY;
	}
	known = known && ask(fd, "attempt start", argv[1]);
	status = run_command(command);
	if (known)
		ask(fd, "attempt end", argv[1]);
	if (fd >= 0)
		close(fd);
	return status;
}
