// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/reports.h"

#include "report/document.h"
#include "report/status.h"
#include "report/timeformat.h"

static struct process *next_row(void *rows)
{
	return spool_next(rows);
}

/* Whether every row can be read back; else the summary's own stand, and it says what is left out.
 */
static bool all_are_there(const struct config *c, struct spool *rows)
{
	spool_rewind(rows);
	return c->all && rows->file && !rows->err;
}

static int write_report(const struct config *c, const struct summary *s,
			const struct document_rows *all, const struct document_sink *to)
{
	if (c->kind == &kind_time)
		return document_time(s, c->format, c->own_lines, to);
	if (c->kind == &kind_status)
		return document_status(s, all, to);
	return document_text(s, c->list ? (size_t)c->top : 0, (enum top_order)c->sort, all, to);
}

void report_text_on(const struct config *c, struct output *out, const struct summary *s,
		    struct spool *rows)
{
	const struct document_rows all = { next_row, rows };
	const struct document_sink to = { output_put, out };
	int err = write_report(c, s, all_are_there(c, rows) ? &all : NULL, &to);

	if (err)
		output_close(out, err);
}

void report_json_on(const struct config *c, struct output *out, const struct summary *s,
		    struct spool *rows)
{
	const struct document_rows all = { next_row, rows };
	const struct document_sink to = { output_put, out };
	int err = document_json(s, all_are_there(c, rows) ? &all : NULL, &to);

	if (err)
		output_close(out, err);
}

void report_text(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	if (out->fd < 0)
		return;
	report_text_on(c, out, s, rows);
	output_close(out, 0);
}

void report_json(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	if (out->fd < 0)
		return;
	report_json_on(c, out, s, rows);
	output_close(out, 0);
}
