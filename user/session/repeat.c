// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/repeat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"
#include "log.h"
#include "session/privileges.h"
#include "session/reports.h"

void repeat_again(struct repeat *r)
{
	privileges_take_back();
	descriptors_restore(repeat_is_last(r));
}

bool repeat_is_last(const struct repeat *r)
{
	return r->number >= r->config->repeat;
}

int repeat_name(const struct repeat *r, const struct config *c, struct run_facts *f)
{
	f->repeat = r->number;
	f->repeats = c->repeat;
	if (!c->run_id)
		return 0; /* it is a new one */
	free(f->id);
	f->id = NULL;
	return asprintf(&f->id, "%s-%ld", c->run_id, r->number) < 0 ? -ENOMEM : 0;
}

/* Whether the report tells one run after the other. */
static bool told_each(const struct config *c)
{
	return c->kind == &kind_time || c->kind == &kind_status ||
	       (c->kind == &kind_text && c->list);
}

void repeat_add(struct repeat *r, struct outputs *out, const struct summary *s, struct spool *rows)
{
	const struct config *c = r->config;

	if (out->json.fd >= 0)
		report_json_on(c, &out->json, s, rows);
	if (told_each(c) && out->report.fd >= 0)
		report_text_on(c, &out->report, s, rows);
	if (rows->err)
		log_line("the temporary file for --all failed: %s", strerror(-rows->err));
	r->series.c.without_marks = true; /* those are for a page */
	if (run_series_add(&r->series, "runs", s))
		r->failed = true;
}

void repeat_take(struct repeat *r, const struct run_result *result)
{
	if (!r->status && !r->signo)
		r->status = result->status;
	r->gates.over_budget |= result->gates.over_budget;
	r->gates.not_quiet |= result->gates.not_quiet;
	r->over = result->ends_series;
}

bool repeat_interrupted(struct repeat *r, struct signals *signals)
{
	if (r->number > 1)
		r->signo = signals_end_came(signals);
	if (r->signo && !r->status)
		r->status = 128 + r->signo;
	return r->signo;
}

bool repeat_goes_on(const struct repeat *r)
{
	return !repeat_is_last(r) && !r->over;
}

/* Into what is still open. */
static void put_series(int (*write)(const struct run_series *, bool, const struct document_sink *),
		       const struct repeat *r, bool each, struct output *out)
{
	const struct document_sink to = { output_put, out };

	if (out->fd >= 0 && !r->failed)
		output_close(out, write(&r->series, each, &to));
}

static int write_json(const struct run_series *s, bool each, const struct document_sink *to)
{
	(void)each;
	return run_series_json(s, to);
}

void repeat_report(struct repeat *r, struct outputs *out, const sigset_t *mask)
{
	const struct config *c = r->config;
	bool text = c->kind == &kind_text || (c->kind == &kind_time && c->own_lines);
	int err;

	descriptors_forget();
	output_close(&out->journal, 0);
	if (r->failed)
		log_line("no report of all runs: out of memory");
	if (!r->series.n)
		return;
	put_series(write_json, r, true, &out->json);
	err = after_make(c, &out->after, &out->report, mask);
	/* Better another kind of report than none. */
	if (text || (err && c->kind->made))
		put_series(run_series_text, r, !told_each(c), &out->report);
}

void repeat_free(struct repeat *r)
{
	run_series_free(&r->series);
	channel_half_free(&r->half);
}
