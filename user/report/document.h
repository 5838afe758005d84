/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document - a summary and its rows put out whole: as JSON, as text
 *
 * Rows come from the summary, or all of them one by one from elsewhere, so that they need not be
 * in memory at once.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <stddef.h>

#include "model/summary.h"
#include "model/top.h"

/* Where bytes go; 0 or -errno. */
struct document_sink {
	int (*put)(void *ctx, const char *data, size_t len);
	void *ctx;
};

/* All rows of the run; NULL at the end.  Each is a reference of the caller's. */
struct document_rows {
	struct process *(*next)(void *ctx);
	void *ctx;
};

/* @all: NULL for the rows the summary holds.  0, -ENOMEM or what the sink said. */
int document_json(const struct summary *s, const struct document_rows *all,
		  const struct document_sink *to);
/* The lines of INTERFACE 5, then the first @list rows, which are in the order of @sort, or @all.
 * The same errors. */
int document_text(const struct summary *s, size_t list, enum top_order sort,
		  const struct document_rows *all, const struct document_sink *to);

#endif /* DOCUMENT_H */
