/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top - the rows worth keeping out of any number: the largest by a figure, or the latest
 */
#ifndef TOP_H
#define TOP_H

#include "model/process.h"

enum top_order {
	TOP_PEAK,
	TOP_CPU,
	TOP_LATEST, /* the last ones added */
};

struct top {
	enum top_order order;
	size_t cap, n;
	struct process **rows; /* a heap, the smallest first; TOP_LATEST: a ring */
	size_t oldest;
};

/* 0 or -ENOMEM. */
int top_init(struct top *t, enum top_order order, size_t cap);
void top_free(struct top *t);
/* Takes a reference of its own if it keeps the row. */
void top_add(struct top *t, struct process *p);

/* Rows by order: TOP_PEAK and TOP_CPU the largest first, TOP_LATEST by start. */
void rows_sort(struct process **rows, size_t n, enum top_order order);

#endif /* TOP_H */
