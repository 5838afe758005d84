// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record_main - exitmeter record: journals into databases, without privileges
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cap-ng.h>

#include "config.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "record/deliver.h"
#include "record/live.h"
#include "scheduler.h"
#include "url.h"

#define STATUS_OWED 1 /* something was not recorded */

enum {
	OPT_TO = 256,
	OPT_SPOOL,
	OPT_REPLAY,
	OPT_AWAIT,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ OPT_TO, "to", "URL", "sqlite:FILE, postgresql://... or http(s)://...; repeatable" },
	{ OPT_REPLAY, "replay", NULL, "record what waits in the spool, the oldest first" },
	{ OPT_SPOOL, "spool", "DIR", "the spool (default $XDG_STATE_HOME/exitmeter)" },
	SCHEDULER_ROWS,
	{ OPT_AWAIT, "await", "N",
	  "with --replay ENTRY: until descriptor N is closed it is written to (exitmeter does)" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct options {
	char *to[OUTBOX_URLS_MAX]; /* URLs, after parsing targets (scheduler.h); owned */
	size_t n_to;
	struct scheduler scheduler;
	const char *spool;
	bool replay;
	long await; /* -1: no */
};

static void print_help(void)
{
	printf("Usage: exitmeter record JOURNAL... --to URL [OPTION...]\n"
	       "  or:  exitmeter record --replay [--to URL] [ENTRY...]\n"
	       "Write journals of runs, - is stdin, or what waits in the spool, into "
	       "databases.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0; 1 something was not recorded; 125 bad usage.\n");
}

static bool add_to(const char *text, struct options *o)
{
	struct url url;

	if (o->n_to == OUTBOX_URLS_MAX) {
		log_line("--to: more than %d", OUTBOX_URLS_MAX);
		return false;
	}
	if (!url_parse(text, &url))
		return false;
	o->to[o->n_to] = url_absolute(&url);
	return o->to[o->n_to] && ++o->n_to;
}

static bool take(int key, const char *arg, void *options)
{
	struct options *o = options;
	switch (key) {
	case OPT_TO:
		return add_to(arg, o);
	case OPT_SPOOL:
		o->spool = arg;
		return true;
	case OPT_REPLAY:
		return o->replay = true;
	case OPT_AWAIT:
		return options_number("await", arg, 0, INT_MAX, &o->await);
	default:
		return !scheduler_take(&o->scheduler, key, arg);
	}
}

/* How attempts are recorded goes with each URL. */
static bool make_targets(struct options *o)
{
	if (!scheduler_check(&o->scheduler))
		return false;
	for (size_t i = 0; i < o->n_to; i++) {
		char *target;

		if (!scheduler_suits(&o->scheduler, o->to[i]))
			return false;
		target = scheduler_target(&o->scheduler, o->to[i]);

		if (!target) {
			log_line("out of memory");
			return false;
		}
		free(o->to[i]);
		o->to[i] = target;
	}
	return true;
}

/* 0: go on; else what to exit with, in *@ret_status. */
static int parse(int argc, char **argv, struct options *o, int *ret_status)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };

	if (!options_take(argc, argv, &command, o, ret_status))
		return 1;
	if (!o->replay && optind == argc) {
		log_line("no journal given (see exitmeter record --help)");
		return 1;
	}
	if (!o->replay && !o->n_to) {
		log_line("--to is missing (see exitmeter record --help)");
		return 1;
	}
	if (o->await >= 0 && (!o->replay || argc - optind != 1)) {
		log_line("--await is for --replay of one entry");
		return 1;
	}
	return !make_targets(o);
}

static int open_spool(const struct options *o)
{
	char path[PATH_MAX] = "";
	int dir, err = outbox_open(o->spool, &dir);

	if (!err)
		return dir;
	outbox_dir(o->spool, path, sizeof(path));
	log_line("spool %s: %s", path,
		 err == -EPERM ? "others may write there, or it is another user's"
			       : strerror(-err));
	return -1;
}

/* --- journals ------------------------------------------------------------------------------ */

static bool record_file(struct delivery *d, const struct options *o, const char *name)
{
	bool all = true;

	for (size_t i = 0; i < o->n_to; i++) {
		FILE *in = fopen(name, "re");

		if (!in) {
			log_line("cannot read '%s': %s", name, strerror(errno));
			return false;
		}
		all &= deliver_journal(d, in, name, o->to[i]);
		fclose(in);
	}
	return all;
}

/* -ENODATA: nothing came. */
static int copy(int from, int to)
{
	char chunk[65536];
	ssize_t n, all = 0;
	int err = 0;

	while (!err && (n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : write_all(to, chunk, (size_t)n);
		all += n;
	}
	return err ? err : all ? 0 : -ENODATA;
}

/* What comes from a pipe comes once: it waits in the spool until all have it. */
static bool record_stdin(struct delivery *d, const struct options *o)
{
	struct outbox_entry e;
	char name[OUTBOX_NAME_MAX];
	int dir = open_spool(o);
	int fd = -1, err;
	bool done = false, nothing;

	if (dir < 0)
		return false;
	err = outbox_new(dir, (const char *const *)o->to, o->n_to, name, &fd);
	if (!err)
		err = copy(STDIN_FILENO, fd);
	if (fd >= 0)
		close(fd);
	nothing = err == -ENODATA;
	if (nothing)
		log_line("stdin: empty");
	if (!err || nothing)
		err = outbox_take(dir, name, true, &e);
	if (err) {
		log_line("stdin: cannot be kept in the spool: %s", strerror(-err));
	} else {
		done = deliver_entry(d, &e, NULL, 0) && !nothing;
		if (!done)
			outbox_sync(&e);
		outbox_close(&e);
	}
	close(dir);
	return done;
}

static bool record_all(struct delivery *d, const struct options *o, char **names)
{
	bool all = true;

	for (; *names; names++)
		all &= strcmp(*names, "-") ? record_file(d, o, *names) : record_stdin(d, o);
	return all;
}

/* --- the spool ----------------------------------------------------------------------------- */

/* @live: who recorded of it while it was written; NULL: nobody. */
static bool replay_one(struct delivery *d, const struct options *o, int dir, const char *name,
		       struct live *live)
{
	struct outbox_entry e;
	int err = outbox_take(dir, name, live, &e);
	bool done, gone = false;

	/* Somebody is writing or recording it. */
	if (err == -EWOULDBLOCK || err == -ENOENT)
		return true;
	if (err) {
		log_line("%s: %s", name, strerror(-err));
		return false;
	}
	if (live)
		live_finish(live, &e, &gone);
	done = gone || deliver_entry(d, &e, (const char *const *)o->to, o->n_to);
	if (!done)
		outbox_sync(&e);
	outbox_close(&e);
	return done;
}

static bool replay_every(struct delivery *d, const struct options *o, int dir)
{
	char **names;
	size_t n;
	bool all = true;
	int err = outbox_list(dir, &names, &n);

	if (err) {
		log_line("the spool cannot be read: %s", strerror(-err));
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		all &= replay_one(d, o, dir, names[i], NULL);
		free(names[i]);
	}
	free(names);
	return all;
}

/* Until it is closed at its other end; others may read there too. */
static void await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	for (;;) {
		int ready = poll(&p, 1, -1);
		ssize_t n = ready > 0 ? read(fd, &byte, 1) : 1;

		if (!n || (ready < 0 && errno != EINTR) ||
		    (n < 0 && errno != EINTR && errno != EAGAIN))
			break;
	}
	close(fd);
}

/* What one run writes, while it does and afterwards. */
static bool replay_awaited(struct delivery *d, const struct options *o, int dir, const char *name)
{
	struct live live;

	live_start(&live, dir, name, (int)o->await);
	await((int)o->await);
	return replay_one(d, o, dir, name, &live);
}

static bool replay(struct delivery *d, const struct options *o, char **names)
{
	int dir = open_spool(o);
	bool all = true;

	if (dir < 0)
		return false;
	if (o->await >= 0)
		all = replay_awaited(d, o, dir, *names);
	else if (!*names)
		all = replay_every(d, o, dir);
	for (; o->await < 0 && *names; names++)
		all &= replay_one(d, o, dir, *names, NULL);
	close(dir);
	return all;
}

/* Of root's only the right to write where the user asks it to. */
static void drop_privileges(void)
{
	const capng_type_t both = (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (capng_get_caps_process() || !capng_have_capability(CAPNG_PERMITTED, CAP_DAC_OVERRIDE))
		return;
	capng_clear(CAPNG_SELECT_CAPS);
	capng_update(CAPNG_ADD, both, CAP_DAC_OVERRIDE);
	capng_apply(CAPNG_SELECT_CAPS);
}

static void options_free(struct options *o)
{
	for (size_t i = 0; i < o->n_to; i++)
		free(o->to[i]);
	scheduler_free(&o->scheduler);
}

int main(int argc, char **argv)
{
	struct options o = { .await = -1 };
	struct delivery *d;
	int status;
	bool done;

	if (parse(argc, argv, &o, &status)) {
		options_free(&o);
		return status;
	}
	signal(SIGPIPE, SIG_IGN);
	drop_privileges();
	d = delivery_new();
	if (!d) {
		log_line("out of memory");
		return STATUS_FAILED;
	}
	done = o.replay ? replay(d, &o, argv + optind) : record_all(d, &o, argv + optind);
	delivery_free(d);
	options_free(&o);
	return done ? 0 : STATUS_OWED;
}
