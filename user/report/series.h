/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - the runs of one journal, repeats of one another, put together (exitmeter -r)
 *
 * Of each figure the median counts, and how far the runs lie apart is told beside it.
 */
#ifndef SERIES_H
#define SERIES_H

#include "report/compare.h"
#include "report/document.h"

/* What is told of one run by itself. */
struct series_run {
	char *id;                 /* NULL: not known */
	char *figures, *warnings; /* as text says them; "" none */
	int64_t exit_code, exit_signal;
	int64_t repeat, repeats;
	int8_t exact;
	bool cut_off;
};

struct run_series {
	struct comparison c; /* of one side */
	struct series_run *runs;
	size_t n;
};

/* @journal: its name, or what else they are of.  0 or -ENOMEM; run_series_free in any case. */
int run_series_add(struct run_series *s, const char *journal, const struct summary *sum);
void run_series_free(struct run_series *s);

/*
 * What all the runs came to, for people; @each: before it the runs one by one, where they are few.
 * Each 0, -ENOMEM or what the sink said.
 */
int run_series_text(const struct run_series *s, bool each, const struct document_sink *to);
/* One object, in a line; of no runs nothing. */
int run_series_json(const struct run_series *s, const struct document_sink *to);

#endif /* SERIES_H */
