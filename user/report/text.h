/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - the report people read: two to four lines, and a list of processes if asked for
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdio.h>

#include "model/summary.h"
#include "model/top.h"

/* The lines of INTERFACE 5, each beginning with "exitmeter: ". */
void text_summary(FILE *out, const struct summary *s);

/* Of these: what keeps the run from being exact or allowed, none or some lines; */
void text_warnings(FILE *out, const struct summary *s);
/* that the command failed, as GNU time says it, after @before; none where it did not; */
void text_failure(FILE *out, const char *before, const struct summary *s);
/* the rest, */
void text_lines(FILE *out, const struct summary *s);
/* and of that the figures, without the beginning and the end of their line. */
void text_figures(FILE *out, const struct summary *s);

/* One process a line. */
void text_process(FILE *out, const struct process *p);
/* After the first @list by @sort: that the summary need not hold all of these (INTERFACE 3). */
void text_omitted(FILE *out, const struct summary *s, enum top_order sort, size_t list);

#endif /* TEXT_H */
