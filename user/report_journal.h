/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_journal - one journal of exitmeter report: its run, or its runs one by one and together
 *
 * Of several runs text, Markdown, the page and the formats of benchmark services tell what they
 * came to together; JSON, GNU time's formats and status tell each; what is of one run alone (a
 * trace, a table of processes) is of the one that took the median time.
 */
#ifndef REPORT_JOURNAL_H
#define REPORT_JOURNAL_H

#include "output.h"
#include "report_cli.h"
#include "report_compare.h"
#include "report_whole.h"

#define STATUS_FAULTY 1 /* malformed, cut off, empty or foreign; no such run */

/* All that is written of one journal, open. */
struct report_outputs {
	struct output json, report, made[MADE_N];
	struct wholes *wholes;
	struct comparing *comparing;
};

/* The exit status for it, after lines that say what is wrong. */
int report_journal(const struct report_options *o, const char *name, struct report_outputs *out);

#endif /* REPORT_JOURNAL_H */
