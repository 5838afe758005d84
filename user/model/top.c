// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/top.h"

#include <errno.h>
#include <stdlib.h>

int top_init(struct top *t, enum top_order order, size_t cap)
{
	*t = (struct top){ .order = order, .cap = cap };
	t->rows = calloc(cap, sizeof(struct process *));
	return t->rows ? 0 : -ENOMEM;
}

void top_free(struct top *t)
{
	for (size_t i = 0; i < t->n; i++)
		process_unref(t->rows[i]);
	free(t->rows);
	*t = (struct top){ 0 };
}

static int64_t figure(enum top_order order, const struct process *p)
{
	return order == TOP_PEAK ? p->peak_rss_bytes : p->cpu_ns;
}

static bool below(const struct top *t, size_t a, size_t b)
{
	return figure(t->order, t->rows[a]) < figure(t->order, t->rows[b]);
}

static void swap(struct top *t, size_t a, size_t b)
{
	struct process *p = t->rows[a];

	t->rows[a] = t->rows[b];
	t->rows[b] = p;
}

static void sift_up(struct top *t, size_t i)
{
	while (i && below(t, i, (i - 1) / 2)) {
		swap(t, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct top *t)
{
	size_t i = 0;

	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < t->n; child++)
			if (below(t, child, least))
				least = child;
		if (least == i)
			return;
		swap(t, i, least);
		i = least;
	}
}

void top_add(struct top *t, struct process *p)
{
	if (t->n < t->cap) {
		t->rows[t->n++] = process_ref(p);
		if (t->order != TOP_LATEST)
			sift_up(t, t->n - 1);
		return;
	}
	if (t->order == TOP_LATEST) {
		process_unref(t->rows[t->oldest]);
		t->rows[t->oldest] = process_ref(p);
		t->oldest = (t->oldest + 1) % t->cap;
		return;
	}
	if (!t->cap || figure(t->order, p) <= figure(t->order, t->rows[0]))
		return;
	process_unref(t->rows[0]);
	t->rows[0] = process_ref(p);
	sift_down(t);
}

/* Equal figures stand by start, then pid, so that the order is always the same. */
static int by_start(const struct process *a, const struct process *b)
{
	if (a->started_ns != b->started_ns)
		return a->started_ns < b->started_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int by_figure(const struct process *a, const struct process *b, enum top_order order)
{
	int64_t x = figure(order, a), y = figure(order, b);

	return x != y ? (x > y ? -1 : 1) : by_start(a, b);
}

static int compare_peak(const void *a, const void *b)
{
	return by_figure(*(struct process *const *)a, *(struct process *const *)b, TOP_PEAK);
}

static int compare_cpu(const void *a, const void *b)
{
	return by_figure(*(struct process *const *)a, *(struct process *const *)b, TOP_CPU);
}

static int compare_start(const void *a, const void *b)
{
	return by_start(*(struct process *const *)a, *(struct process *const *)b);
}

void rows_sort(struct process **rows, size_t n, enum top_order order)
{
	qsort(rows, n, sizeof(struct process *),
	      order == TOP_PEAK  ? compare_peak
	      : order == TOP_CPU ? compare_cpu
				 : compare_start);
}
