// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/curve.h"

#include <errno.h>
#include <stdlib.h>

int curve_init(struct curve *s, size_t cap)
{
	*s = (struct curve){ .cap = cap, .stride = 1 };
	s->points = calloc(cap, sizeof(*s->points));
	return s->points ? 0 : -ENOMEM;
}

void curve_free(struct curve *s)
{
	free(s->points);
	*s = (struct curve){ 0 };
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void merge(struct curve_point *a, const struct curve_point *b)
{
	a->at_ns = b->at_ns;
	a->rss_bytes = larger(a->rss_bytes, b->rss_bytes);
	a->cpu_ns = larger(a->cpu_ns, b->cpu_ns);
	a->cpus = a->cpus > b->cpus ? a->cpus : b->cpus;
	a->processes = larger(a->processes, b->processes);
	a->threads = larger(a->threads, b->threads);
	a->lower_bytes = larger(a->lower_bytes, b->lower_bytes);
	a->upper_bytes = larger(a->upper_bytes, b->upper_bytes);
	a->pss_bytes = larger(a->pss_bytes, b->pss_bytes);
}

/* Two and two; all points hold stride samples then, for the capacity is even. */
static void compact(struct curve *s)
{
	for (size_t i = 0; i + 1 < s->n; i += 2) {
		s->points[i / 2] = s->points[i];
		merge(&s->points[i / 2], &s->points[i + 1]);
	}
	s->n /= 2;
	s->stride *= 2;
	s->in_last = s->stride;
}

void curve_add(struct curve *s, const struct curve_point *p)
{
	if (s->n && s->in_last < s->stride) {
		merge(&s->points[s->n - 1], p);
		s->in_last++;
		return;
	}
	if (s->n == s->cap)
		compact(s);
	s->points[s->n++] = *p;
	s->in_last = 1;
}
