// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_main - exitmeter report: a journal rendered again, without privileges
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "format/format.h"
#include "journal/faults.h"
#include "journal/read.h"
#include "journal/spans.h"
#include "log.h"
#include "output.h"
#include "programs.h"
#include "report/document.h"
#include "report/status.h"
#include "report/timeformat.h"
#include "report_cli.h"
#include "report_compare.h"
#include "report_whole.h"
#include "terminal.h"

#define STATUS_FAULTY 1 /* malformed, cut off, empty or foreign */

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

static void tell_samples(const struct document_rows *rows, format_on_sample *on_sample, void *of)
{
	journal_rows_samples(rows->ctx, on_sample, of);
}

struct journal_file {
	const char *name;
	FILE *in;
	off_t start;
	struct journal_read read;
};

/* --- what is written of it ------------------------------------------------------------------ */

/* All that is written of one journal, open. */
struct outputs {
	struct output json, report, made[MADE_N];
	struct wholes *wholes;
	struct comparing *comparing;
};

/* Whether one of them reads the journal again. */
static bool rows_wanted(const struct report_options *o)
{
	const struct format *f = o->quiet ? NULL : format_of_kind(o->kind);
	bool rows = o->all || (f && f->rows);

	for (int i = 0; i < MADE_N; i++) {
		f = o->made[i] ? format_of_made((enum made_output)i) : NULL;
		rows |= f && f->rows;
	}
	return rows;
}

static struct format_input input_of(const struct report_options *o, const struct summary *s,
				    const struct document_rows *rows, int fd)
{
	return (struct format_input){ .summary = s,
				      .rows = rows,
				      .samples = tell_samples,
				      .list = o->list,
				      .all = o->all,
				      .top = (size_t)o->top,
				      .sort = o->sort,
				      .width = terminal_width(fd),
				      .colour = terminal_colour(o->colour, fd) };
}

/* By a format, or as what exitmeter itself writes too: JSON and text. */
static int write_one(const struct report_options *o, const struct summary *s,
		     const struct format *f, const struct document_rows *rows, bool json, int fd,
		     const struct document_sink *to)
{
	const struct format_input in = input_of(o, s, rows, fd);
	int err;

	if (f) {
		err = f->write(&in, to);
		if (err != -EOPNOTSUPP)
			return err;
		/* Better another kind of report than none. */
		log_line("no tree or table: this exitmeter-report was built without libsmartcols");
	}
	if (!json && o->kind == &kind_time)
		return document_time(s, o->format, o->own_lines, to);
	if (!json && o->kind == &kind_status)
		return document_status(s, rows, to);
	return json ? document_json(s, rows, to)
		    : document_text(s, o->list ? (size_t)o->top : 0, o->all ? rows : NULL, to);
}

/*
 * To @out, which is closed: what that brought is told.  What reading again brought is in
 * *@ret_read_err.
 */
static int put(const struct report_options *o, struct journal_file *j, const struct format *f,
	       struct output *out, bool json, int *ret_read_err)
{
	const struct document_sink to = { output_put, out };
	struct document_rows rows = { next_row, NULL };
	int err;

	if (out->fd < 0 || *ret_read_err)
		return 0;
	if (o->all || (f && f->rows))
		rows.ctx = again(j->in, j->start, &j->read, ret_read_err);
	if (*ret_read_err)
		return 0;
	err = write_one(o, j->read.summary, f, rows.ctx ? &rows : NULL, json, out->fd, &to);
	*ret_read_err = journal_rows_free(rows.ctx);
	return output_close(out, err);
}

/* The exit status for this journal. */
static int render(const struct report_options *o, struct journal_file *j, struct outputs *out)
{
	const struct format_input in = input_of(o, j->read.summary, NULL, -1);
	int status = j->read.n_faults || j->read.summary->cut_off ? STATUS_FAULTY : 0;
	int read_err = 0;
	bool failed;

	failed = put(o, j, NULL, &out->json, true, &read_err);
	failed |= put(o, j, format_of_kind(o->kind), &out->report, false, &read_err) != 0;
	for (int i = 0; i < MADE_N; i++)
		failed |= put(o, j, format_of_made((enum made_output)i), &out->made[i], false,
			      &read_err) != 0;
	failed |= wholes_add(out->wholes, &in) != 0;
	failed |= comparing_add(out->comparing, j->name, j->read.summary) != 0;
	if (read_err)
		log_line("cannot read '%s' again: %s", j->name, strerror(-read_err));
	return failed || read_err ? STATUS_FAILED : status;
}

static int report(const struct report_options *o, const char *name, struct outputs *out)
{
	struct journal_file j = { .name = name };
	int status = STATUS_FAULTY;
	int err = open_journal(name, rows_wanted(o), &j.in);

	if (!err) {
		j.start = ftello(j.in);
		err = journal_read(j.in, o->sort, &j.read);
	}
	if (err) {
		log_line("cannot read '%s': %s", name, strerror(-err));
		status = STATUS_FAILED;
	} else {
		faults_print(name, &j.read);
		if (j.read.summary && o->spans)
			err = spans_add(o->spans, j.read.summary);
		if (j.read.summary)
			status = render(o, &j, out);
		if (err)
			status = err == -EBADMSG && status != STATUS_FAILED ? STATUS_FAULTY
									    : STATUS_FAILED;
	}
	summary_free(j.read.summary);
	if (j.in)
		fclose(j.in);
	return status;
}

/* Before anything is read, as exitmeter does before it starts anything.  @later: not the first. */
static int open_outputs(const struct report_options *o, bool later, struct outputs *out)
{
	int err = output_open(o->json, later, &out->json);

	if (!err)
		err = output_open(o->report, o->append || later || o->kind->appended, &out->report);
	if (!err && !o->quiet && !o->report)
		output_stderr(&out->report);
	for (int i = 0; !err && i < MADE_N; i++) {
		if (format_of_made((enum made_output)i)->whole ||
		    (i == MADE_HTML && o->n_journals > 1)) /* one page, of the comparison */
			continue;
		err = made_kinds[i].by_name && !later
			      ? output_open_whole(o->made[i], &out->made[i])
			      : output_open(o->made[i], later, &out->made[i]);
	}
	return err;
}

static void close_outputs(struct outputs *out)
{
	output_drop(&out->json);
	output_drop(&out->report);
	for (int i = 0; i < MADE_N; i++)
		output_drop(&out->made[i]);
}

static int report_all(const struct report_options *o, struct wholes *wholes,
		      struct comparing *comparing)
{
	int status = 0;

	for (int i = 0; i < o->n_journals; i++) {
		struct outputs out = {
			.json.fd = -1, .report.fd = -1, .wholes = wholes, .comparing = comparing
		};
		int one = STATUS_FAILED;

		for (int k = 0; k < MADE_N; k++)
			out.made[k].fd = -1;
		if (!open_outputs(o, i > 0, &out))
			one = report(o, o->journals[i], &out);
		close_outputs(&out);
		if (one > status)
			status = one;
	}
	return status;
}

/* Database code is in a program of its own. */
static int ask_database(char **argv)
{
	static char name[] = "report"; /* as which it shall work */
	int err;

	argv[0] = name;
	err = program_exec("suggest", argv);
	log_line("exitmeter-suggest: %s", err == -ENOENT ? "not installed" : strerror(-err));
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct report_options o;
	struct comparing comparing = { .page.fd = -1 };
	struct wholes wholes;
	int status;

	setlocale(LC_CTYPE, ""); /* how wide a character is; numbers stay as they are */
	if (report_cli_parse(argc, argv, &o, &status))
		return status;
	if (o.from_database)
		return ask_database(argv);
	status = STATUS_FAILED;
	if (!wholes_open(&o, &wholes) && !comparing_open(&o, &comparing))
		status = report_all(&o, &wholes, &comparing);
	if (o.page_missing)
		status = STATUS_FAILED;
	if (wholes_close(&wholes))
		status = STATUS_FAILED;
	if (comparing_close(&o, &comparing))
		status = STATUS_FAILED;
	return status;
}
