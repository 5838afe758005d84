/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_rows - the processes of a page: which of them have a row of their own, and of the others
 * how many there were at which time
 */
#ifndef HTML_ROWS_H
#define HTML_ROWS_H

#include "journal/json.h"
#include "model/top.h"

#define HTML_BUCKETS 400 /* of the time that the run took */

struct html_rows {
	struct top by_peak, by_cpu, failed, running;
	int64_t end_ns; /* of the run */
	int64_t n;
	int64_t cpu_ns;                  /* of all; UNKNOWN: of one it is not known */
	int64_t alive[HTML_BUCKETS + 1]; /* changes of how many were alive in a bucket */
};

/* 0 or -ENOMEM; html_rows_free in any case. */
int html_rows_init(struct html_rows *r, int64_t end_ns, size_t max);
void html_rows_free(struct html_rows *r);
void html_rows_add(struct html_rows *r, struct process *p);
/* Two members, "processes" and "others".  0 or -ENOMEM; errors of @j stick there. */
int html_rows_write(struct html_rows *r, struct json *j);

#endif /* HTML_ROWS_H */
