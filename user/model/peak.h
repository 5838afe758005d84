/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak - the tree's concurrent peak between two bounds that hold (SPEC U-131)
 *
 * lower: memory really seen resident at one moment.  upper: the largest sum of what each living
 * address space had come to.  Bytes; times are ns on the source's clock; UNKNOWN unknown.
 */
#ifndef PEAK_H
#define PEAK_H

#include "model/record.h"

struct peak {
	int64_t lower, lower_at_ns, upper;
	enum peak_source source;
	int64_t kernel_lower, kernel_at_ns, kernel_upper; /* the source's own maxima */
	int64_t confirmed,
		confirmed_at_ns;  /* of kernel_lower, at the last scan that found nothing odd */
	int64_t scan, scan_at_ns; /* the largest complete scan, net */
	int64_t scan_gross;
	int64_t outside_bytes; /* that grew from outside */
	bool outside_seen;     /* something changed memory from outside */
	bool outside; /* memory was changed from outside: kernel_lower may count what is gone */
	int64_t process, process_at_ns; /* largest single process, a lower bound */
	enum peak_source process_source;
	int64_t process_lower; /* of it what is sure: less the mark's error */
	int64_t sum;           /* of all processes' peaks */
	int64_t rows_sum, running_sum,
		ended_sum;      /* seen as records, of them running; the source's own */
	struct rss_split split; /* of the largest reading */
	int64_t split_bytes;
};

void peak_init(struct peak *p);
void peak_on_totals(struct peak *p, const struct totals *t);
void peak_on_sample(struct peak *p, const struct tree_sample *s);
/* A process's end (or its state so far). */
void peak_on_process(struct peak *p, const struct exit_record *r);
/* Settles the bounds; @void_upper: something was not followed, only the plain sum still bounds. */
void peak_finish(struct peak *p, bool void_upper);

#endif /* PEAK_H */
