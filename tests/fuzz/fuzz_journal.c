// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_journal - any bytes as a journal of one run or several
 *
 * Besides what the sanitizers and the model's assertions see: what was read can be written, alone
 * and together, and all rows come again in a second look.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "journal/read.h"
#include "report/document.h"
#include "report/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int put(void *ctx, const char *data, size_t len)
{
	(void)data;
	*(size_t *)ctx += len;
	return 0;
}

/* A journal's bytes never reach the terminal as they are. */
static int put_plain(void *ctx, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
			abort();
	return put(ctx, text, len);
}

static struct process *next_row(void *rows)
{
	return journal_rows_next(rows);
}

static void render(const struct journal_read *r, FILE *in)
{
	const struct document_rows all = { next_row, journal_rows_new(in, r->lines) };
	const struct summary *s = r->summary;
	size_t written = 0;
	const struct document_sink sink = { put, &written }, plain = { put_plain, &written };

	if (!all.ctx)
		abort();
	if (document_json(s, NULL, &sink) || !written)
		abort();
	if (document_text(s, 10, TOP_PEAK, &all, &plain))
		abort();
	if (journal_rows_free(all.ctx))
		abort();
}

static void render_series(const struct run_series *s)
{
	size_t written = 0;
	const struct document_sink sink = { put, &written }, plain = { put_plain, &written };

	if (run_series_json(s, &sink) || !written || run_series_text(s, true, &plain))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct run_series series = { 0 };
	struct journal_runs runs;
	struct journal_read r;

	if (!in)
		return 0;
	if (journal_runs_open(&runs, in))
		abort();
	do {
		if (journal_runs_next(&runs, TOP_PEAK, NULL, &r))
			abort();
		if (r.summary) {
			if (fseeko(in, r.offset, SEEK_SET))
				abort();
			render(&r, in);
			if (fseeko(in, journal_runs_offset(&runs), SEEK_SET) ||
			    run_series_add(&series, "fuzz", r.summary))
				abort();
		}
		summary_free(r.summary);
	} while (r.more);
	if (series.n)
		render_series(&series);
	run_series_free(&series);
	journal_runs_close(&runs);
	fclose(in);
	return 0;
}
