// SPDX-License-Identifier: GPL-2.0-or-later
#include "hostcmd/hostcmd.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "hostcmd/look.h"
#include "log.h"
#include "options.h"
#include "units.h"

#define WINDOW_DEFAULT_S 1.0
#define WINDOW_MIN_S     0.001
#define WINDOW_MAX_S     86400.0

enum { OPT_JSON = 256, OPT_WATCH, OPT_WINDOW };

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ OPT_WATCH, "watch", NULL, "go on, a line for each window, until a signal comes" },
	{ OPT_WINDOW, "window", "S", "seconds that each verdict is about (default 1)" },
	{ OPT_JSON, "json", NULL, "print JSON objects" },
	{ 'h', "help", NULL, "print this text" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct host_options {
	bool watch, json;
	double window_s;
};

static void print_help(void)
{
	printf("Usage: exitmeter host [OPTION...]\n"
	       "Tell whether this machine is quiet now, and what machine it is.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0 it is quiet, 122 it is not, 125 it cannot be judged, or bad\n"
	       "usage.\n");
}

static bool take(int key, const char *arg, void *options)
{
	struct host_options *o = options;
	switch (key) {
	case OPT_WATCH:
		return o->watch = true;
	case OPT_JSON:
		return o->json = true;
	case OPT_WINDOW:
		if (options_seconds(arg, &o->window_s) && o->window_s >= WINDOW_MIN_S &&
		    o->window_s <= WINDOW_MAX_S)
			return true;
		log_line("window '%s': seconds from %g to %g", arg, WINDOW_MIN_S, WINDOW_MAX_S);
		return false;
	default:
		return false;
	}
}

/* False when there is nothing to look at, with what to end with. */
static bool parse(int argc, char **argv, struct host_options *o, int *ret_status)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };

	if (!options_take(argc, argv, &command, o, ret_status))
		return false;
	*ret_status = STATUS_FAILED;
	if (optind == argc)
		return true;
	log_line("host takes no '%s' (see host --help)", argv[optind]);
	return false;
}

/* --- watching ------------------------------------------------------------------------------ */

static volatile sig_atomic_t told_to_end;

static void on_signal(int signo)
{
	(void)signo;
	told_to_end = 1;
}

/* They end the watching, and the last verdict is the status; who ignores them goes on doing so. */
static void take_signals(void)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction ours = { .sa_handler = on_signal };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!sigaction(all[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(all[i], &ours, NULL);
}

static int print(const struct host_options *o, const struct look *l)
{
	int err = 0;

	if (o->json)
		err = look_print_json(l);
	else if (o->watch)
		look_print_line(l);
	else
		look_print(l);
	if (!err && fflush(stdout))
		err = -errno;
	return err;
}

static int status_of(enum em_host verdict)
{
	switch (verdict) {
	case EM_HOST_QUIET:
		return 0;
	case EM_HOST_COTENANT:
		return STATUS_NOT_QUIET;
	default:
		return STATUS_FAILED;
	}
}

int hostcmd_main(char **argv)
{
	struct host_options o = { .window_s = WINDOW_DEFAULT_S };
	struct load_source source;
	int argc = 0, status, err;
	struct look look;

	while (argv[argc])
		argc++;
	if (!parse(argc, argv, &o, &status))
		return status;
	if (o.watch)
		take_signals();
	load_open(&source);
	do {
		err = look_take(&source, (int64_t)(o.window_s * (double)NS_PER_S), &look);
		if (!err) {
			status = status_of(look.load.verdict);
			err = print(&o, &look);
		}
		look_free(&look);
	} while (o.watch && !err && !told_to_end);
	load_close(&source);
	if (err && err != -EINTR) {
		log_line("cannot tell of the host: %s", strerror(-err));
		return STATUS_FAILED;
	}
	return status;
}
