/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format - what exitmeter-report alone writes: one function a format, one table of them
 *
 * A format is a view of a summary and of every row.  It does no I/O but into its sink.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include "kinds.h"
#include "made.h"
#include "model/curve.h"
#include "model/top.h"
#include "report/document.h"
#include "report/series.h"

typedef void format_on_sample(void *of, const struct curve_point *p);

struct format_input {
	const struct summary *summary;
	/* All the runs that are reported on, where the format takes several and there are; @summary
	 * is then one of them. */
	const struct run_series *series;
	/* Every row of the run, once, in the order they ended; NULL unless the format asks, or
	 * --all was given. */
	const struct document_rows *rows;
	/* Before the first row: to be told of the tree's samples too, as they stand between the
	 * rows. */
	void (*samples)(const struct document_rows *rows, format_on_sample *on_sample, void *of);
	bool list; /* -n, --sort or --all was given */
	bool all;
	size_t top;
	enum top_order sort;
	int width;   /* of the terminal it goes to; 0: it is none */
	bool colour; /* it may be coloured */
};

/* One document of all journals that are reported on together. */
struct format_whole {
	void *(*begin)(void); /* NULL: out of memory */
	/* Each 0, -ENOMEM or, put, what the sink said. */
	int (*add)(void *document, const struct format_input *in);
	int (*put)(const void *document, const struct document_sink *to);
	void (*end)(void *document);
};

struct format {
	const struct report_kind *kind; /* --report=KIND; NULL: not one of those */
	enum made_output made;          /* --trace FILE and the like; MADE_N: not one of those */
	bool rows;                      /* it needs every row */
	bool repeats;                   /* it takes several runs of a journal */
	/* 0, -ENOMEM, or what the sink or @rows said. */
	int (*write)(const struct format_input *in, const struct document_sink *to);
	const struct format_whole *whole; /* instead of @write; NULL: one after another */
};

/* NULL: not made here. */
const struct format *format_of_kind(const struct report_kind *kind);
const struct format *format_of_made(enum made_output made);

/* One file each. */
int format_bencher(const struct format_input *in, const struct document_sink *to);
int format_benchexec(const struct format_input *in, const struct document_sink *to);
int format_benchmark_action(const struct format_input *in, const struct document_sink *to);
int format_csv(const struct format_input *in, const struct document_sink *to);
int format_csv_marks(const struct format_input *in, const struct document_sink *to);
int format_html(const struct format_input *in, const struct document_sink *to);
/* Of several runs their medians. */
int format_markdown(const struct format_input *in, const struct document_sink *to);
int format_nextflow(const struct format_input *in, const struct document_sink *to);
int format_runner(const struct format_input *in, const struct document_sink *to);
int format_snakemake(const struct format_input *in, const struct document_sink *to);
int format_table(const struct format_input *in, const struct document_sink *to);
int format_trace(const struct format_input *in, const struct document_sink *to);
int format_tree(const struct format_input *in, const struct document_sink *to);
extern const struct format_whole format_prometheus, format_openmetrics;

#endif /* FORMAT_H */
