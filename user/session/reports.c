// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/reports.h"

#include "report/document.h"

static struct process *next_row(void *rows)
{
	return spool_next(rows);
}

void report_text(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	const struct document_rows all = { next_row, rows };
	const struct document_sink to = { output_put, out };

	if (out->fd < 0)
		return;
	spool_rewind(rows);
	output_close(out,
		     document_text(s, c->list ? (size_t)c->top : 0, c->all ? &all : NULL, &to));
}

void report_json(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	const struct document_rows all = { next_row, rows };
	const struct document_sink to = { output_put, out };

	if (out->fd < 0)
		return;
	spool_rewind(rows);
	output_close(out, document_json(s, c->all ? &all : NULL, &to));
}
