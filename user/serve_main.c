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

/* 0: go on; else what to exit with, in *@ret_status. */
static int parse(int argc, char **argv, struct options *o, int *ret_status)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[3 * OPTIONS_MAX];
	int key;

	*ret_status = STATUS_FAILED;
	options_getopt(opts, N_OPTS, ":", shorts, longs);
	opterr = 0;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (key) {
		case 'h':
			print_help();
			*ret_status = fflush(stdout) ? STATUS_FAILED : 0;
			return 1;
		case 'V':
			printf("exitmeter %s\n", EXITMETER_VERSION);
			*ret_status = fflush(stdout) ? STATUS_FAILED : 0;
			return 1;
		case OPT_LISTEN:
			o->listen = optarg;
			break;
		case OPT_TOKEN_FILE:
			o->token_file = optarg;
			break;
		case OPT_TO:
			if (!url_parse(optarg, &o->to))
				return 1;
			break;
		default:
			if (scheduler_take(&o->scheduler, key, optarg) >= 0)
				break;
			options_say_wrong(key, argv);
			return 1;
		}
	}
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
