// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "journal/read_fold.h"

static void add_fault(struct journal_read *r, unsigned long long line, const struct why *why)
{
	if (r->n_faults < JOURNAL_FAULTS_MAX)
		r->faults[r->n_faults] = (struct journal_fault){ line, *why };
	r->n_faults++;
}

static int observe(const struct journal_observer *by, const struct fold *f, const char *event,
		   json_object *o)
{
	if (by && by->started && !strcmp(event, "run_start"))
		return by->started(by->ctx, &f->facts, &f->env);
	if (by && by->line &&
	    (!strcmp(event, "process") || !strcmp(event, "run_end") || !strcmp(event, "left_out")))
		return by->line(by->ctx, event, o);
	return 0;
}

/* One line of the run; -EALREADY: it is the first one of the next. */
static int take_line(struct lines *l, struct fold *f, const struct journal_observer *by,
		     struct why *why)
{
	json_object *o;
	const char *event;
	int err = lines_parse(l, &o, &event, why);

	if (!err && !strcmp(event, "run_start") && fold_begun(f)) {
		lines_put_back(l);
		err = -EALREADY;
	}
	/* Half a line of a run without an end: that is the cut. */
	if (err == -EBADMSG && !l->whole && !f->told && f->known)
		err = -ENODATA;
	if (!err)
		err = fold_line(f, event, o, why);
	if (!err)
		err = observe(by, f, event, o);
	json_object_put(o);
	return err;
}

static int fold_lines(struct lines *l, struct fold *f, const struct journal_observer *by,
		      struct journal_read *ret)
{
	int more;

	while ((more = lines_next(l)) > 0) {
		struct why why = { "" };
		int err;

		if (!ret->lines)
			ret->offset = l->at;
		err = take_line(l, f, by, &why);
		if (err == -EALREADY) {
			ret->more = true;
			return 0;
		}
		ret->lines++;
		if (err == -EBADMSG)
			add_fault(ret, l->n, &why);
		else if (err && err != -ENODATA)
			return err;
	}
	return more < 0 ? more : 0;
}

static int finish(struct fold *f, enum top_order sort, unsigned long long first_line,
		  struct journal_read *ret)
{
	struct why why = { "" };
	int err;

	if (!f->started) {
		why_set(&why, "there is no run_start");
		add_fault(ret, first_line, &why);
	}
	err = fold_finish(f, sort, &ret->summary);
	if (err || !ret->n_faults)
		return err;
	texts_add(&ret->summary->completeness.reasons,
		  "malformed lines of the journal left out: %llu", ret->n_faults);
	ret->summary->completeness.exact = 0;
	return 0;
}

int journal_runs_open(struct journal_runs *r, FILE *in)
{
	return lines_init(&r->lines, in);
}

int journal_runs_next(struct journal_runs *r, enum top_order sort,
		      const struct journal_observer *by, struct journal_read *ret)
{
	unsigned long long before = r->lines.n;
	struct fold f;
	int err;

	*ret = (struct journal_read){ 0 };
	fold_init(&f);
	err = fold_lines(&r->lines, &f, by, ret);
	ret->empty = !r->lines.n;
	if (!err && f.known)
		err = finish(&f, sort, before ? before : 1, ret);
	fold_free(&f);
	return err;
}

off_t journal_runs_offset(const struct journal_runs *r)
{
	return r->lines.pos;
}

void journal_runs_close(struct journal_runs *r)
{
	lines_free(&r->lines);
}

int journal_read(FILE *in, enum top_order sort, struct journal_read *ret)
{
	struct journal_runs r;
	int err = journal_runs_open(&r, in);

	*ret = (struct journal_read){ 0 };
	if (!err)
		err = journal_runs_next(&r, sort, NULL, ret);
	journal_runs_close(&r);
	return err;
}
