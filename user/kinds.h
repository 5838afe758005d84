/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds - the kinds of report there are (--report), and who writes them
 */
#ifndef KINDS_H
#define KINDS_H

#include <stdbool.h>

struct report_kind {
	const char *name;
	bool made;     /* by exitmeter-report alone */
	bool appended; /* a file is always added to */
	bool data;     /* exitmeter report writes it to standard output by default */
};

extern const struct report_kind kind_text, kind_none, kind_status;
extern const struct report_kind kind_time; /* GNU time's, not of a name */
extern const struct report_kind kind_tree, kind_table, kind_csv, kind_csv_marks, kind_markdown;
extern const struct report_kind kind_nextflow, kind_snakemake, kind_benchexec;
extern const struct report_kind kind_benchmark_action, kind_bencher, kind_runner;

/* The kind of that name; NULL after one line was printed. */
const struct report_kind *report_kind_of(const char *name);

#endif /* KINDS_H */
