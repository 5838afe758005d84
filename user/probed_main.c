// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probed_main - exitmeter-probed: BPF programs for users who may not load them
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/lend.h"
#include "config.h"
#include "log.h"
#include "options.h"
#include "probed/confine.h"
#include "probed/server.h"
#include "probed/sessions.h"

#define FIRST_HANDED_OVER 3 /* SD_LISTEN_FDS_START */
#define PER_USER_DEFAULT  8
#define SESSIONS_DEFAULT  64
#define SILENT_DEFAULT    600
#define SILENT_MOST       86400

enum {
	OPT_LISTEN = 256,
	OPT_GROUP,
	OPT_SESSIONS,
	OPT_PER_USER,
	OPT_SILENT,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ OPT_LISTEN, "listen", "PATH", "make a socket there and serve it" },
	{ OPT_GROUP, "group", "NAME", "the group that may use it (default: ours)" },
	{ OPT_SESSIONS, "sessions", "N", "at most so many at once (default 64)" },
	{ OPT_PER_USER, "per-user", "N", "of which of one user (default 8)" },
	{ OPT_SILENT, "silent", "SECONDS", "end one that says nothing for so long (default 600)" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct options {
	const char *listen, *group;
	struct probed_limits limits;
};

static void print_help(void)
{
	printf("Usage: exitmeter-probed [OPTION...]\n"
	       "Load exitmeter's BPF programs for users who may not.  The socket is systemd's, or\n"
	       "--listen's; a connection as standard input is served alone.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0 a session ended, 125 bad usage, no capabilities, no BPF.\n");
}

static bool take_number(const char *what, const char *text, int most, int *ret)
{
	long v;

	if (!options_number(what, text, 1, most, &v))
		return false;
	*ret = (int)v;
	return true;
}

static bool take(int key, const char *arg, void *options)
{
	struct options *o = options;

	switch (key) {
	case OPT_LISTEN:
		o->listen = arg;
		return true;
	case OPT_GROUP:
		o->group = arg;
		return true;
	case OPT_SESSIONS:
		return take_number("sessions", arg, SESSIONS_MOST, &o->limits.sessions);
	case OPT_PER_USER:
		return take_number("per-user", arg, SESSIONS_MOST, &o->limits.per_user);
	default:
		return take_number("silent", arg, SILENT_MOST, &o->limits.silent_s);
	}
}

/* Whoever starts a program that has capabilities of its own does not choose what it reads. */
static void clean_environment(void)
{
	const char *cache = getenv("CACHE_DIRECTORY"); /* systemd's */

	if (getauxval(AT_SECURE))
		clearenv();
	else if (cache)
		setenv("XDG_CACHE_HOME", cache, 1);
}

static bool is_connection(int fd)
{
	int type = 0, listens = 1;
	socklen_t len = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET &&
	       !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && !listens;
}

/* systemd's (sd_listen_fds), or one that is made; -errno after one line was printed. */
static int open_socket(const struct options *o)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	const struct group *group;
	int fd;

	if (!o->listen && pid && n && atoi(pid) == getpid() && atoi(n) == 1)
		return FIRST_HANDED_OVER;
	if (!o->listen) {
		log_line("no socket: --listen PATH, or from systemd");
		return -EINVAL;
	}
	group = o->group ? getgrnam(o->group) : NULL;
	if (o->group && !group) {
		log_line("no group '%s'", o->group);
		return -ENOENT;
	}
	fd = probed_listen(o->listen);
	if (fd >= 0 && group && lchown(o->listen, (uid_t)-1, group->gr_gid)) {
		int err = -errno;

		close(fd);
		unlink(o->listen);
		fd = err;
	}
	if (fd < 0)
		log_line("cannot listen at '%s': %s", o->listen, strerror(-fd));
	return fd;
}

static int serve(const struct options *o)
{
	char why[512] = "";
	int fd = open_socket(o), err;

	if (fd < 0)
		return STATUS_FAILED;
	err = confine_capabilities();
	if (err) {
		log_line("needs CAP_BPF and CAP_PERFMON: %s", strerror(-err));
		return STATUS_FAILED;
	}
	/* Says at the start what would fail each time, and leaves the kernel's types in the cache.
	 */
	err = lend_rehearse(why, sizeof(why));
	if (err) {
		log_line("%s", why);
		return STATUS_FAILED;
	}
	err = confine_server();
	if (!err)
		err = probed_serve(fd, &o->limits);
	log_line("cannot serve: %s", strerror(-err));
	return STATUS_FAILED;
}

/* Nobody reads what it prints. */
static int serve_connection(const struct options *o)
{
	if (getauxval(AT_SECURE) && !probed_take_place(PER_USER_DEFAULT)) {
		lend_refuse(STDIN_FILENO, "exitmeter-probed: too many sessions of this user");
		return STATUS_FAILED;
	}
	if (confine_capabilities()) {
		lend_refuse(STDIN_FILENO, "exitmeter-probed lacks CAP_BPF or CAP_PERFMON");
		return STATUS_FAILED;
	}
	if (confine_server() || probed_session(STDIN_FILENO, &o->limits))
		return STATUS_FAILED;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };
	struct options o = { .limits = { SESSIONS_DEFAULT, PER_USER_DEFAULT, SILENT_DEFAULT } };
	int status;

	clean_environment();
	if (!options_take(argc, argv, &command, &o, &status))
		return status;
	if (optind < argc) {
		log_line("probed takes no '%s' (see exitmeter-probed --help)", argv[optind]);
		return STATUS_FAILED;
	}
	if (!getauxval(AT_SECURE))
		return !o.listen && is_connection(STDIN_FILENO) ? serve_connection(&o) : serve(&o);
	if (argc == 1 && is_connection(STDIN_FILENO))
		return serve_connection(&o);
	log_line("with capabilities of its file it serves exitmeter's own connection, with no "
		 "options");
	return STATUS_FAILED;
}
