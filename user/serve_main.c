// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serve_main - exitmeter serve: journals as metrics and as a live page, meters taken from workers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "log.h"
#include "options.h"
#include "scheduler.h"
#include "serve/server.h"
#include "serve_record.h"
#include "units.h"
#include "url.h"

enum {
	OPT_LISTEN = 256,
	OPT_TOKEN_FILE,
	OPT_TO,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ OPT_LISTEN, "listen", "ADDR",
	  "HOST:PORT, or PORT on the loopback (default " LISTEN_DEFAULT ")" },
	{ OPT_TOKEN_FILE, "token-file", "FILE", "ask for the token that is in FILE" },
	{ OPT_TO, "to", "URL",
	  "share meters out among attempts in sqlite:FILE or postgresql://..." },
	SCHEDULER_SQL_ROWS,
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct options {
	const char *listen, *token_file; /* NULL: not given */
	struct url to;                   /* text NULL: not given */
	struct scheduler scheduler;
};

static void print_help(void)
{
	printf("Usage: exitmeter serve [JOURNAL|FOLDER...] [OPTION...]\n"
	       "Serve runs over HTTP while they go on and afterwards: /metrics for Prometheus, a\n"
	       "page to look at, /healthz; take meters of workers at /api/worker/exited.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0 after SIGTERM or SIGINT; 125 bad usage, an address that is in\n"
	       "use, a journal that cannot be read.\n");
}

static bool take(int key, const char *arg, void *options)
{
	struct options *o = options;

	switch (key) {
	case OPT_LISTEN:
		o->listen = arg;
		return true;
	case OPT_TOKEN_FILE:
		o->token_file = arg;
		return true;
	case OPT_TO:
		return url_parse(arg, &o->to);
	default:
		return !scheduler_take(&o->scheduler, key, arg);
	}
}

/* 0: go on; else what to exit with, in *@ret_status. */
static int parse(int argc, char **argv, struct options *o, int *ret_status)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };

	if (!options_take(argc, argv, &command, o, ret_status))
		return 1;
	if (o->scheduler.on && !o->to.text) {
		log_line("--select-sql and --update-sql go with --to");
		return 1;
	}
	return 0;
}

/* What was handed over, and the address that was asked for.  How many, or -errno. */
static int open_sockets(const struct options *o, int fds[LISTEN_MAX])
{
	int n = listen_handed_over(fds), fd;

	if (n == LISTEN_MAX || (n && !o->listen))
		return n;
	fd = listen_open(o->listen ? o->listen : LISTEN_DEFAULT);
	if (fd < 0)
		return fd;
	fds[n] = fd;
	return n + 1;
}

static int run(const struct options *o, struct site *site)
{
	struct serve_record record = { .sink = NULL };
	int fds[LISTEN_MAX], n, status = STATUS_FAILED;

	if (o->to.text && !serve_record_open(&o->to, &o->scheduler, &record))
		return status;
	site->recorder = o->to.text ? &record.recorder : NULL;
	n = open_sockets(o, fds);
	if (n > 0 && !server_run(site, fds, n))
		status = 0;
	site->recorder = NULL;
	serve_record_close(&record);
	return status;
}

int main(int argc, char **argv)
{
	struct site site = { .started_at_ns = clock_ns(CLOCK_REALTIME) };
	struct options o = { 0 };
	int status;

	if (!parse(argc, argv, &o, &status)) {
		status = STATUS_FAILED;
		if (!token_read(o.token_file, &site.token)) {
			if (!journals_open(argv + optind, argc - optind, &site.journals))
				status = run(&o, &site);
			journals_close(&site.journals);
		}
	}
	scheduler_free(&o.scheduler);
	explicit_bzero(&site.token, sizeof(site.token));
	return status;
}
