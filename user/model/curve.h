/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curve - a run's samples over time, in a bounded number of points: what a picture of it needs
 *
 * Past its capacity neighbours are merged, evenly over the whole run, as the meter does (SPEC
 * U-52, U-54): no sample's largest is lost.
 */
#ifndef CURVE_H
#define CURVE_H

#include <stddef.h>
#include <stdint.h>

/* What one sample, or several in a row, told; UNKNOWN where it did not. */
struct curve_point {
	int64_t at_ns;                    /* of the last, since the run's start */
	int64_t rss_bytes;                /* the most resident since the point before */
	int64_t cpu_ns;                   /* of the run so far */
	double cpus;                      /* the most cores busy over one sample's interval */
	int64_t processes, threads;       /* the most seen alive */
	int64_t lower_bytes, upper_bytes; /* bounds of the tree's peak so far */
	int64_t pss_bytes;                /* the most of the tree's proportional share seen */
};

struct curve {
	struct curve_point *points; /* owned */
	size_t n, cap;
	uint64_t stride; /* samples in each point but the last */
	uint64_t in_last;
};

/* 0 or -ENOMEM; @cap is an even number. */
int curve_init(struct curve *s, size_t cap);
void curve_free(struct curve *s);
void curve_add(struct curve *s, const struct curve_point *p);

#endif /* CURVE_H */
