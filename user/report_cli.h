/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_cli - the command line of exitmeter report
 */
#ifndef REPORT_CLI_H
#define REPORT_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "kinds.h"
#include "made.h"
#include "model/top.h"
#include "terminal.h"

struct report_options {
	char *const *journals; /* borrowed from the command line */
	int n_journals;
	const char *report; /* NULL: stderr */
	const char *json, *spans;
	const char *
		run; /* the one run of a journal that is reported on, its id or number; NULL: all */
	const char *by; /* the label that repeats have in common; NULL: there are none */
	const char *made[MADE_N];
	const struct report_kind *kind;
	enum when colour;
	const char *format; /* of kind_time */
	bool own_lines;     /* text behind that */
	char log_fd[32];
	bool append, quiet, list, all;
	bool from_database; /* no journals: what --from and --run say is another's business */
	bool page_missing;  /* a page was asked for that cannot be made: it was told */
	long top;
	enum top_order sort;
};

/* 0: go on; else what to exit with is in *@ret_status, and one line or the help was printed. */
int report_cli_parse(int argc, char **argv, struct report_options *o, int *ret_status);

#endif /* REPORT_CLI_H */
