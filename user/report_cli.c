// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_cli.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "format/page.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "report/timeformat.h"

#define TOP_DEFAULT 10
#define LIST_MAX    1000

enum {
	OPT_LOG_FD = 256,
	OPT_POSIX,
	OPT_REPORT,
	OPT_COLOR,
	OPT_JSON,
	OPT_SORT,
	OPT_ALL,
	OPT_SPANS,
	OPT_CSV,
	OPT_MARKDOWN,
	OPT_RUNNER,
	OPT_BY,
	OPT_FROM,
	OPT_RUN,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ 'o', "output", "FILE", "write the report to FILE, - for stdout (default stderr)" },
	{ 'a', "append", NULL, "append to the report's FILE" },
	{ OPT_LOG_FD, "log-fd", "N", "write the report to descriptor N" },
	{ 'q', "quiet", NULL, "print no report" },
	{ 'f', "format", "FORMAT", "a report in GNU time's way: %e %U %S %M ..., %{FIELD}" },
	{ 'v', "verbose", NULL, "all that GNU time -v tells, and the lines of text" },
	{ OPT_POSIX, "posix", NULL, "real, user and sys, as time -p" },
	{ OPT_REPORT, "report", "KIND", "kind of report: text, tree, table, csv, markdown ..." },
	{ OPT_COLOR, "color", "WHEN", "colours in tree and table: auto, always or never" },
	{ OPT_CSV, "csv", NULL, "the same as --report=csv" },
	{ OPT_MARKDOWN, "markdown", NULL, "the same as --report=markdown" },
	{ OPT_JSON, "json", "FILE", "write the summary as JSON; - for stdout, fd:N" },
	MADE_ROWS /* */
	{ 'n', "top", "N", "list the first N processes in the report (default 10)" },
	{ OPT_SORT, "sort", "KEY", "order of listed processes: peak, cpu or start" },
	{ OPT_ALL, "all", NULL, "list every process, however many" },
	{ OPT_SPANS, "spans", "FILE", "attempts: lines of JSON with id, started and ended" },
	{ OPT_BY, "by", "LABEL", "compare journals: those with one value of LABEL are repeats" },
	{ OPT_RUNNER, "runner", NULL,
	  "attempts in a benchmark runner's names, as JSON (default stdout)" },
	{ OPT_FROM, "from", "URL", "of the database that runs were recorded in, with --run" },
	{ OPT_RUN, "run", "ID", "of several runs that one: its id, or which it is in the journal" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

static void print_help(void)
{
	printf("Usage: exitmeter report JOURNAL... [OPTION...]\n"
	       "Report on runs again from their journals; - reads one from stdin.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0; 1 a journal was cut off, empty, foreign, or had lines that\n"
	       "are malformed; 125 bad usage, a file could not be read or written.\n");
}

/* The last of these and of --report counts. */
static bool time_format(struct report_options *o, const char *format, bool own_lines)
{
	o->kind = &kind_time;
	o->format = format;
	o->own_lines = own_lines;
	return true;
}

static bool take(int key, const char *arg, void *options)
{
	struct report_options *o = options;
	long fd;
	int sort;

	switch (key) {
	case 'o':
		o->report = arg;
		return true;
	case 'a':
		return o->append = true;
	case OPT_LOG_FD:
		if (!options_number("log-fd", arg, 0, INT_MAX, &fd))
			return false;
		snprintf(o->log_fd, sizeof(o->log_fd), "fd:%ld", fd);
		o->report = o->log_fd;
		return true;
	case 'q':
		return o->quiet = true;
	case 'f':
		return time_format(o, arg, false);
	case 'v':
		return time_format(o, timeformat_verbose, true);
	case OPT_POSIX:
		return time_format(o, timeformat_posix, false);
	case OPT_COLOR:
		return when_of("color", arg, &o->colour);
	case OPT_REPORT:
		o->kind = report_kind_of(arg);
		return o->kind;
	case OPT_CSV:
		o->kind = &kind_csv;
		return true;
	case OPT_MARKDOWN:
		o->kind = &kind_markdown;
		return true;
	case OPT_JSON:
		o->json = arg;
		return true;
	case 'n':
		o->list = true;
		return options_number("top", arg, 0, LIST_MAX, &o->top);
	case OPT_SORT:
		o->list = true;
		if (!options_sort(arg, &sort))
			return false;
		o->sort = (enum top_order)sort;
		return true;
	case OPT_ALL:
		o->list = true;
		return o->all = true;
	case OPT_BY:
		o->by = arg;
		return true;
	case OPT_RUNNER:
		o->kind = &kind_runner;
		return true;
	case OPT_FROM:
		return o->from_database = true;
	case OPT_RUN:
		o->run = arg;
		return true;
	case OPT_SPANS:
		o->spans = arg;
		return true;
	default:
		if (key < MADE_OPTION || key >= MADE_OPTION + MADE_N)
			return false;
		o->made[key - MADE_OPTION] = arg;
		return true;
	}
}

/* Where the report goes, once all is known. */
static bool outputs_fit(struct report_options *o)
{
	const char *names[2 + MADE_N] = { NULL };

	o->quiet |= o->kind == &kind_none;
	if (o->kind->data && !o->report)
		o->report = "-";
	if (o->quiet)
		o->report = NULL;
	names[0] = o->report;
	names[1] = o->json;
	for (int i = 0; i < MADE_N; i++)
		names[2 + i] = o->made[i];
	return outputs_differ(names, 2 + MADE_N);
}

int report_cli_parse(int argc, char **argv, struct report_options *o, int *ret_status)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };
	struct page page;

	*o = (struct report_options){ .top = TOP_DEFAULT, .sort = TOP_PEAK, .kind = &kind_text };
	if (!options_take(argc, argv, &command, o, ret_status))
		return 1;
	if (o->from_database)
		return 0;
	if (optind == argc) {
		log_line("no journal given (see exitmeter report --help)");
		return 1;
	}
	if (!outputs_fit(o))
		return 1;
	if (o->made[MADE_HTML] && !page_get(&page)) {
		log_line("no --html: exitmeter-report was built without npm, which makes its page");
		o->made[MADE_HTML] = NULL;
		o->page_missing = true;
	}
	o->journals = argv + optind;
	o->n_journals = argc - optind;
	return 0;
}
