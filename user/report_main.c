// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_main - exitmeter report: a journal rendered again, without privileges
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "journal/read.h"
#include "journal/spans.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "report/document.h"
#include "report/runner.h"

#define STATUS_FAULTY 1 /* malformed, cut off, empty or foreign */
#define TOP_DEFAULT   10
#define LIST_MAX      1000

enum {
	OPT_LOG_FD = 256,
	OPT_JSON,
	OPT_SORT,
	OPT_ALL,
	OPT_SPANS,
	OPT_RUNNER,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ 'o', "output", "FILE", "write the report to FILE, - for stdout (default stderr)" },
	{ 'a', "append", NULL, "append to the report's FILE" },
	{ OPT_LOG_FD, "log-fd", "N", "write the report to descriptor N" },
	{ 'q', "quiet", NULL, "print no report" },
	{ OPT_JSON, "json", "FILE", "write the summary as JSON; - for stdout, fd:N" },
	{ 'n', "top", "N", "list the first N processes in the report (default 10)" },
	{ OPT_SORT, "sort", "KEY", "order of listed processes: peak, cpu or start" },
	{ OPT_ALL, "all", NULL, "list every process, however many" },
	{ OPT_SPANS, "spans", "FILE", "attempts: lines of JSON with id, started and ended" },
	{ OPT_RUNNER, "runner", NULL,
	  "attempts in a benchmark runner's names, as JSON (default stdout)" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct options {
	const char *report; /* NULL: stderr */
	const char *json, *spans;
	char log_fd[32];
	bool append, quiet, list, all, runner;
	long top;
	enum top_order sort;
};

/* --- the command line ---------------------------------------------------------------------- */

static void print_help(void)
{
	printf("Usage: exitmeter report JOURNAL... [OPTION...]\n"
	       "Report on runs again from their journals; - reads one from stdin.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0; 1 a journal was cut off, empty, foreign, or had lines that\n"
	       "are malformed; 125 bad usage, a file could not be read or written.\n");
}

static bool take(int key, const char *arg, struct options *o)
{
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
	case OPT_RUNNER:
		return o->runner = true;
	case OPT_SPANS:
		o->spans = arg;
		return true;
	default:
		return false;
	}
}

static bool to_stdout(const char *name)
{
	return name && (!strcmp(name, "-") || !strcmp(name, "fd:1"));
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
		case ':':
		case '?':
			options_say_wrong(key, argv);
			return 1;
		default:
			if (!take(key, optarg, o))
				return 1;
		}
	}
	if (optind == argc) {
		log_line("no journal given (see exitmeter report --help)");
		return 1;
	}
	if (o->runner && !o->report)
		o->report = "-";
	if (!o->quiet && to_stdout(o->report) && to_stdout(o->json)) {
		log_line("only one output can go to stdout");
		return 1;
	}
	return 0;
}

/* --- one journal --------------------------------------------------------------------------- */

/* A second look needs a file that can be wound back: a pipe is copied into an unlinked one. */
static int copy_to_temporary(FILE **in)
{
	char chunk[65536];
	FILE *copy;
	size_t n;
	int err = temporary_open(&copy);

	if (err)
		return err;
	errno = 0;
	while (!err && (n = fread(chunk, 1, sizeof(chunk), *in)))
		if (fwrite(chunk, 1, n, copy) != n)
			err = -errno;
	if (!err && (ferror(*in) || fflush(copy) || fseeko(copy, 0, SEEK_SET)))
		err = errno ? -errno : -EIO;
	if (err) {
		fclose(copy);
		return err;
	}
	fclose(*in);
	*in = copy;
	return 0;
}

static int open_journal(const char *name, bool twice, FILE **ret)
{
	FILE *in = !strcmp(name, "-") ? fdopen(dup(STDIN_FILENO), "r") : fopen(name, "re");
	int err = 0;

	if (!in)
		return -errno;
	if (twice && ftello(in) < 0)
		err = copy_to_temporary(&in);
	if (err)
		fclose(in);
	else
		*ret = in;
	return err;
}

static void say_faults(const char *name, const struct journal_read *r)
{
	unsigned long long said =
		r->n_faults < JOURNAL_FAULTS_MAX ? r->n_faults : JOURNAL_FAULTS_MAX;

	if (!r->summary) {
		log_line(r->empty ? "%s: empty"
				  : "%s:1: no journal of exitmeter: there is no run_start",
			 name);
		return;
	}
	for (unsigned long long i = 0; i < said; i++)
		log_line("%s:%llu: %s", name, r->faults[i].line, r->faults[i].why.text);
	if (r->n_faults > said)
		log_line("%s: and %llu more malformed lines", name, r->n_faults - said);
}

static struct process *next_row(void *rows)
{
	return journal_rows_next(rows);
}

/* Each output looks at the journal again for itself. */
static struct journal_rows *again(FILE *in, off_t start, const struct journal_read *r, int *ret_err)
{
	struct journal_rows *rows = NULL;

	*ret_err = 0;
	if (fseeko(in, start, SEEK_SET)) {
		*ret_err = -errno;
		return NULL;
	}
	rows = journal_rows_new(in, r->lines);
	if (!rows)
		*ret_err = -ENOMEM;
	return rows;
}

struct journal_file {
	const char *name;
	FILE *in;
	off_t start;
	struct journal_read read;
};

/* What writing brought is told; what reading again brought is in *@ret_read_err. */
static int put(const struct options *o, struct journal_file *j, bool json, struct output *out,
	       int *ret_read_err)
{
	const struct document_sink to = { output_put, out };
	const struct summary *s = j->read.summary;
	struct document_rows all = { next_row, NULL };
	size_t list = o->list ? (size_t)o->top : 0;
	int err;

	*ret_read_err = 0;
	if (o->all)
		all.ctx = again(j->in, j->start, &j->read, ret_read_err);
	if (*ret_read_err)
		return 0;
	if (json)
		err = document_json(s, all.ctx ? &all : NULL, &to);
	else if (o->runner)
		err = document_runner(s, &to);
	else
		err = document_text(s, list, all.ctx ? &all : NULL, &to);
	*ret_read_err = journal_rows_free(all.ctx);
	return output_close(out, err);
}

/* The exit status for this journal. */
static int render(const struct options *o, struct journal_file *j, struct output *json,
		  struct output *text)
{
	int status = j->read.n_faults || j->read.summary->cut_off ? STATUS_FAULTY : 0;
	int read_err = 0;

	if (json->fd >= 0 && put(o, j, true, json, &read_err))
		status = STATUS_FAILED;
	if (!read_err && text->fd >= 0 && put(o, j, false, text, &read_err))
		status = STATUS_FAILED;
	if (read_err) {
		log_line("cannot read '%s' again: %s", j->name, strerror(-read_err));
		status = STATUS_FAILED;
	}
	return status;
}

static int report(const struct options *o, const char *name, struct output *json,
		  struct output *text)
{
	struct journal_file j = { .name = name };
	int status = STATUS_FAULTY;
	int err = open_journal(name, o->all, &j.in);

	if (!err) {
		j.start = ftello(j.in);
		err = journal_read(j.in, o->sort, &j.read);
	}
	if (err) {
		log_line("cannot read '%s': %s", name, strerror(-err));
		status = STATUS_FAILED;
	} else {
		say_faults(name, &j.read);
		if (j.read.summary && o->spans)
			err = spans_add(o->spans, j.read.summary);
		if (j.read.summary)
			status = render(o, &j, json, text);
		if (err)
			status = err == -EBADMSG && status != STATUS_FAILED ? STATUS_FAULTY
									    : STATUS_FAILED;
	}
	summary_free(j.read.summary);
	if (j.in)
		fclose(j.in);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .top = TOP_DEFAULT, .sort = TOP_PEAK };
	int status;

	if (parse(argc, argv, &o, &status))
		return status;
	status = 0;
	for (int i = optind; i < argc; i++) {
		struct output json, text = { .fd = -1 };
		bool later = i > optind;
		int one = STATUS_FAILED;

		/* Before anything is read, as exitmeter does before it starts anything. */
		if (!output_open(o.json, later, &json) &&
		    !output_open(o.quiet ? NULL : o.report, o.append || later, &text)) {
			if (!o.quiet && !o.report)
				output_stderr(&text);
			one = report(&o, argv[i], &json, &text);
		}
		output_close(&json, 0);
		output_close(&text, 0);
		if (one > status)
			status = one;
	}
	return status;
}
