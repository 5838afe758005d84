/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_compare - several journals of one exitmeter report, compared
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "format/comparison.h"
#include "output.h"
#include "report_cli.h"

struct comparing {
	bool wanted; /* there are several journals, and a report that has a comparison */
	bool text;   /* behind the reports of each */
	struct output page;
	struct comparison c;
};

/* Before anything is read.  0, or -errno after one line was printed; comparing_close in any case.
 */
int comparing_open(const struct report_options *o, struct comparing *ret);
/* @again: another run of the same journal.  0 or -ENOMEM after one line was printed. */
int comparing_add(struct comparing *c, const char *journal, bool again, const struct summary *s);
/* Writes it, where there are two runs or more.  0, or -errno after one line was printed. */
int comparing_close(const struct report_options *o, struct comparing *c);

#endif /* REPORT_COMPARE_H */
