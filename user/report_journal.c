// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_journal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "format/format.h"
#include "format/name.h"
#include "journal/faults.h"
#include "journal/read.h"
#include "journal/spans.h"
#include "log.h"
#include "report/document.h"
#include "report/series.h"
#include "report/status.h"
#include "report/timeformat.h"
#include "terminal.h"

/* Where a run is, to be read again. */
struct place {
	off_t offset;
	int64_t wall_ns;
	bool whole;
};

struct journal_file {
	const char *name;
	FILE *in;
	off_t start;
	struct journal_runs runs;
	struct journal_read read; /* the run at hand */
	size_t number;            /* of it, from 1 on */
	bool several;             /* it is one of several that are reported on */
	bool found;               /* one was */
	struct run_series series;
	struct place *places;
	int read_err; /* of reading again */
};

/* --- the file -------------------------------------------------------------------------------- */

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

/* Whether one of the outputs reads the journal again. */
static bool again_wanted(const struct report_options *o)
{
	bool again = o->all || (!o->quiet && o->kind->made);

	for (int i = 0; i < MADE_N; i++) {
		const struct format *f = o->made[i] ? format_of_made((enum made_output)i) : NULL;

		again |= f && f->rows;
	}
	return again;
}

static int open_journal(const struct report_options *o, struct journal_file *j)
{
	bool is_stdin = !strcmp(j->name, "-");
	int err = 0;

	j->in = is_stdin ? fdopen(dup(STDIN_FILENO), "r") : fopen(j->name, "re");
	if (!j->in)
		return -errno;
	if (again_wanted(o) && ftello(j->in) < 0)
		err = copy_to_temporary(&j->in);
	j->start = ftello(j->in);
	return err ? err : journal_runs_open(&j->runs, j->in);
}

static void close_journal(struct journal_file *j)
{
	summary_free(j->read.summary);
	run_series_free(&j->series);
	free(j->places);
	journal_runs_close(&j->runs);
	if (j->in)
		fclose(j->in);
}

static struct process *next_row(void *rows)
{
	return journal_rows_next(rows);
}

/* Each output looks at the run again for itself. */
static struct journal_rows *again(struct journal_file *j)
{
	struct journal_rows *rows = NULL;

	if (fseeko(j->in, j->start + j->read.offset, SEEK_SET)) {
		j->read_err = -errno;
		return NULL;
	}
	rows = journal_rows_new(j->in, j->read.lines);
	if (!rows)
		j->read_err = -ENOMEM;
	return rows;
}

/* Back to where the next run is read. */
static void go_on(struct journal_file *j)
{
	if (j->start >= 0 && !j->read_err &&
	    fseeko(j->in, j->start + journal_runs_offset(&j->runs), SEEK_SET))
		j->read_err = -errno;
}

static void tell_samples(const struct document_rows *rows, format_on_sample *on_sample, void *of)
{
	journal_rows_samples(rows->ctx, on_sample, of);
}

/* --- one run --------------------------------------------------------------------------------- */

static struct format_input input_of(const struct report_options *o, const struct journal_file *j,
				    const struct document_rows *rows, int fd)
{
	return (struct format_input){ .summary = j->read.summary,
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
static int write_one(const struct report_options *o, const struct format_input *in,
		     const struct format *f, bool json, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	int err;

	if (f) {
		err = f->write(in, to);
		if (err != -EOPNOTSUPP)
			return err;
		/* Better another kind of report than none. */
		log_line("no tree or table: this exitmeter-report was built without libsmartcols");
	}
	if (!json && o->kind == &kind_time)
		return document_time(s, o->format, o->own_lines, to);
	if (!json && o->kind == &kind_status)
		return document_status(s, in->rows, to);
	return json ? document_json(s, in->rows, to)
		    : document_text(s, o->list ? (size_t)o->top : 0, o->sort,
				    o->all ? in->rows : NULL, to);
}

/* To @out, which is closed where that fails: what that brought is told.  False: it did. */
static bool put(const struct report_options *o, struct journal_file *j, const struct format *f,
		struct output *out, bool json)
{
	const struct document_sink to = { output_put, out };
	struct document_rows rows = { next_row, NULL };
	struct format_input in;
	int err;

	if (out->fd < 0 || j->read_err)
		return true;
	if (o->all || (f && f->rows))
		rows.ctx = again(j);
	if (j->read_err)
		return true;
	in = input_of(o, j, rows.ctx ? &rows : NULL, out->fd);
	if (j->several && f && f->repeats)
		in.series = &j->series;
	err = write_one(o, &in, f, json, &to);
	j->read_err = journal_rows_free(rows.ctx);
	return !err || !output_close(out, err);
}

/* Whether the report tells one run after the other. */
static bool told_each(const struct report_options *o)
{
	return o->kind == &kind_time || o->kind == &kind_status ||
	       (o->kind == &kind_text && o->list);
}

/* What is written of each run as it comes. */
static bool put_run(const struct report_options *o, struct journal_file *j,
		    struct report_outputs *out)
{
	const struct format_input in = input_of(o, j, NULL, -1);
	bool done = put(o, j, NULL, &out->json, true);

	if (told_each(o))
		done &= put(o, j, NULL, &out->report, false);
	done &= !wholes_add(out->wholes, &in);
	done &= !comparing_add(out->comparing, j->name, j->found, j->read.summary);
	return done;
}

/* And what is of the one that there is, or that stands for all. */
static bool put_rest(const struct report_options *o, struct journal_file *j,
		     struct report_outputs *out)
{
	bool done = true;

	if (!told_each(o) && !(j->several && o->kind == &kind_text))
		done = put(o, j, format_of_kind(o->kind), &out->report, false);
	for (int i = 0; i < MADE_N; i++)
		done &= put(o, j, format_of_made((enum made_output)i), &out->made[i], false);
	return done;
}

/* --- several --------------------------------------------------------------------------------- */

/* One that is given on standard input is called as its command. */
static int keep(struct journal_file *j)
{
	const struct summary *s = j->read.summary;
	struct place *more = reallocarray(j->places, j->series.n + 1, sizeof(*more));
	char name[RUN_NAME_MAX];

	if (!more)
		return -ENOMEM;
	j->places = more;
	more[j->series.n] = (struct place){ j->read.offset, s->run.wall_ns, !s->cut_off };
	run_name(s, name);
	return run_series_add(&j->series, strcmp(j->name, "-") ? j->name : name, s);
}

/* The one whose time is nearest to the median; else the first. */
static size_t typical(const struct journal_file *j)
{
	double median_ns =
		compare_value_of(&j->series.c, 0, compare_figure_of("wall_seconds")).median * 1e9;
	double least = INFINITY;
	size_t best = 0;

	for (size_t i = 0; i < j->series.n; i++) {
		const struct place *p = &j->places[i];

		if (!p->whole || p->wall_ns < 0 || fabs((double)p->wall_ns - median_ns) >= least)
			continue;
		least = fabs((double)p->wall_ns - median_ns);
		best = i;
	}
	return best;
}

static bool of_one_run(const struct report_options *o, const struct report_outputs *out)
{
	const struct format *f = out->report.fd < 0 ? NULL : format_of_kind(o->kind);
	bool one = f && !f->repeats;

	for (int i = 0; i < MADE_N; i++)
		one |= out->made[i].fd >= 0 && !format_of_made((enum made_output)i)->repeats;
	return one;
}

/* Reads the run again that stands for all. */
static int read_typical(const struct report_options *o, struct journal_file *j, bool say)
{
	size_t which = typical(j);
	off_t offset = j->places[which].offset;
	int err = 0;

	summary_free(j->read.summary);
	j->read = (struct journal_read){ 0 };
	if (fseeko(j->in, j->start + offset, SEEK_SET))
		err = -errno;
	if (!err)
		err = journal_read(j->in, o->sort, &j->read);
	if (!err && !j->read.summary)
		err = -EIO;
	if (!err && o->spans)
		spans_add(o->spans, j->read.summary);
	j->read.offset = offset;
	if (!err && say)
		log_line("%s: %zu runs: what is of one run is of run %zu, nearest to the median "
			 "time (--run takes another)",
			 j->name, j->series.n, which + 1);
	return err;
}

static bool put_series(const struct report_options *o, struct journal_file *j,
		       struct report_outputs *out)
{
	const struct document_sink text = { output_put, &out->report };
	const struct document_sink json = { output_put, &out->json };
	bool wanted = o->kind->made, done = true;
	int err = 0;

	if (out->json.fd >= 0)
		err = run_series_json(&j->series, &json);
	if (err)
		done = !output_close(&out->json, err);
	err = 0;
	if (out->report.fd >= 0 &&
	    (o->kind == &kind_text || (o->kind == &kind_time && o->own_lines)))
		err = run_series_text(&j->series, !told_each(o), &text);
	if (err)
		done &= !output_close(&out->report, err);
	for (int i = 0; i < MADE_N; i++)
		wanted |= out->made[i].fd >= 0;
	if (!wanted || j->read_err)
		return done;
	j->read_err = read_typical(o, j, of_one_run(o, out));
	return j->read_err ? done : put_rest(o, j, out) && done;
}

/* --- all ------------------------------------------------------------------------------------- */

static bool is_asked_for(const struct report_options *o, const struct journal_file *j)
{
	const char *id = j->read.summary ? j->read.summary->run.id : NULL;
	char number[32];

	if (!o->run)
		return true;
	snprintf(number, sizeof(number), "%zu", j->number);
	return j->read.summary && ((id && !strcmp(id, o->run)) || !strcmp(number, o->run));
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* The status of the run at hand. */
static int take_run(const struct report_options *o, struct journal_file *j,
		    struct report_outputs *out)
{
	struct summary *s = j->read.summary;
	int status = j->read.n_faults || !s || s->cut_off ? STATUS_FAULTY : 0;
	int err;

	faults_print(j->name, &j->read);
	if (!s)
		return status;
	err = o->spans ? spans_add(o->spans, s) : 0;
	if (err)
		status = err == -EBADMSG ? STATUS_FAULTY : STATUS_FAILED;
	j->several = !o->run && (j->found || j->read.more);
	if (j->several && keep(j))
		return STATUS_FAILED;
	if (!put_run(o, j, out))
		status = STATUS_FAILED;
	if (!j->several && !put_rest(o, j, out))
		status = STATUS_FAILED;
	j->found = true;
	go_on(j);
	return status;
}

static int close_outputs(struct report_outputs *out)
{
	int err = output_close(&out->json, 0);

	if (output_close(&out->report, 0))
		err = -EIO;
	for (int i = 0; i < MADE_N; i++)
		if (output_close(&out->made[i], 0))
			err = -EIO;
	return err;
}

static int take_runs(const struct report_options *o, struct journal_file *j,
		     struct report_outputs *out, int *ret_err)
{
	int status = 0;

	do {
		summary_free(j->read.summary);
		*ret_err = journal_runs_next(&j->runs, o->sort, NULL, &j->read);
		j->number++;
		if (!*ret_err && is_asked_for(o, j))
			status = larger(status, take_run(o, j, out));
	} while (!*ret_err && !j->read_err && j->read.more && !(o->run && j->found));
	if (!*ret_err && o->run && !j->found) {
		log_line("%s: no run '%s' in it", j->name, o->run);
		status = STATUS_FAULTY;
	}
	if (!*ret_err && j->several && !put_series(o, j, out))
		status = STATUS_FAILED;
	return status;
}

int report_journal(const struct report_options *o, const char *name, struct report_outputs *out)
{
	struct journal_file j = { .name = name };
	int status = STATUS_FAILED;
	int err = open_journal(o, &j);

	if (!err)
		status = take_runs(o, &j, out, &err);
	if (err)
		log_line("cannot read '%s': %s", name, strerror(-err));
	else if (j.read_err)
		log_line("cannot read '%s' again: %s", name, strerror(-j.read_err));
	else if (j.found && close_outputs(out))
		status = STATUS_FAILED;
	close_journal(&j);
	return err || j.read_err ? STATUS_FAILED : status;
}
