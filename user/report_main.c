// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_main - exitmeter report: a journal rendered again, without privileges
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "journal/read.h"
#include "log.h"
#include "output.h"
#include "report/document.h"

#define STATUS_FAULTY 1 /* malformed, cut off, empty or foreign */
#define TOP_DEFAULT   10
#define LIST_MAX      1000

enum {
	OPT_LOG_FD = 256,
	OPT_JSON,
	OPT_SORT,
	OPT_ALL,
};

/* One table: long options, short options, --help; the man page is checked against --help. */
static const struct opt {
	int key;
	const char *name;
	const char *metavar; /* NULL: takes no argument */
	const char *help;
} opts[] = {
	{ 'o', "output", "FILE", "write the report to FILE, - for stdout (default stderr)" },
	{ 'a', "append", NULL, "append to the report's FILE" },
	{ OPT_LOG_FD, "log-fd", "N", "write the report to descriptor N" },
	{ 'q', "quiet", NULL, "print no report" },
	{ OPT_JSON, "json", "FILE", "write the summary as JSON; - for stdout, fd:N" },
	{ 'n', "top", "N", "list the first N processes in the report (default 10)" },
	{ OPT_SORT, "sort", "KEY", "order of listed processes: peak, cpu or start" },
	{ OPT_ALL, "all", NULL, "list every process, however many" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

struct options {
	const char *report; /* NULL: stderr */
	const char *json;
	char log_fd[32];
	bool append, quiet, list, all;
	long top;
	enum top_order sort;
};

/* --- the command line ---------------------------------------------------------------------- */

static void print_help(void)
{
	printf("Usage: exitmeter report JOURNAL... [OPTION...]\n"
	       "Report on runs again from their journals; - reads one from stdin.\n\n");
	for (size_t i = 0; i < N_OPTS; i++) {
		char left[64];
		const char *gap = opts[i].metavar ? " " : "";
		const char *metavar = opts[i].metavar ? opts[i].metavar : "";

		if (opts[i].key < 256)
			snprintf(left, sizeof(left), "-%c, --%s%s%s", opts[i].key, opts[i].name,
				 gap, metavar);
		else
			snprintf(left, sizeof(left), "    --%s%s%s", opts[i].name, gap, metavar);
		printf("  %-24s  %s\n", left, opts[i].help);
	}
	printf("\nExit status: 0; 1 a journal was cut off, empty, foreign, or had lines that\n"
	       "are malformed; 125 bad usage, a file could not be read or written.\n");
}

static void make_getopt(char *shorts, struct option *longs)
{
	*shorts++ = ':';
	for (size_t i = 0; i < N_OPTS; i++) {
		longs[i] = (struct option){
			.name = opts[i].name,
			.has_arg = opts[i].metavar ? required_argument : no_argument,
			.val = opts[i].key,
		};
		if (opts[i].key >= 256)
			continue;
		*shorts++ = (char)opts[i].key;
		if (opts[i].metavar)
			*shorts++ = ':';
	}
	*shorts = '\0';
	longs[N_OPTS] = (struct option){ 0 };
}

static bool parse_number(const char *what, const char *text, long most, long *ret)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (end == text || *end || errno || v < 0 || v > most) {
		log_line("%s '%s': a number from 0 to %ld", what, text, most);
		return false;
	}
	*ret = v;
	return true;
}

static bool parse_sort(const char *text, enum top_order *ret)
{
	static const char *const names[] = { "peak", "cpu", "start" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*ret = (enum top_order)i;
			return true;
		}
	log_line("sort '%s': peak, cpu or start", text);
	return false;
}

static bool take(int key, const char *arg, struct options *o)
{
	long fd;

	switch (key) {
	case 'o':
		o->report = arg;
		return true;
	case 'a':
		return o->append = true;
	case OPT_LOG_FD:
		if (!parse_number("log-fd", arg, INT_MAX, &fd))
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
		return parse_number("top", arg, LIST_MAX, &o->top);
	case OPT_SORT:
		o->list = true;
		return parse_sort(arg, &o->sort);
	case OPT_ALL:
		o->list = true;
		return o->all = true;
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
	struct option longs[N_OPTS + 1];
	char shorts[2 * N_OPTS + 2];
	int key;

	*ret_status = STATUS_FAILED;
	make_getopt(shorts, longs);
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
			log_line("option '%s' needs an argument", argv[optind - 1]);
			return 1;
		case '?':
			log_line("unknown option '%s' (see exitmeter report --help)",
				 optopt && optopt < 256 ? (char[]){ '-', (char)optopt, 0 }
							: argv[optind - 1]);
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
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX], chunk[65536];
	FILE *copy;
	size_t n;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/exitmeter.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	copy = fdopen(fd, "w+");
	if (!copy) {
		err = -errno;
		close(fd);
		return err;
	}
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
	err = json ? document_json(s, all.ctx ? &all : NULL, &to)
		   : document_text(s, list, all.ctx ? &all : NULL, &to);
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
		if (j.read.summary)
			status = render(o, &j, json, text);
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
