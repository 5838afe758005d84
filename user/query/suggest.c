// SPDX-License-Identifier: GPL-2.0-or-later
#include "query/suggest.h"

#include <math.h>
#include <stdlib.h>

#define MIB          (1LL << 20)
#define SPARE        1.1 /* above what was seen */
#define AFTER_A_KILL 2
#define CPUS_SLACK   0.1 /* a core that was hardly touched is none */

static int by_peak(const void *a, const void *b)
{
	const struct past *x = a, *y = b;

	return (x->peak_bytes > y->peak_bytes) - (x->peak_bytes < y->peak_bytes);
}

static int by_cpus(const void *a, const void *b)
{
	const struct past *x = a, *y = b;

	return (x->cpus > y->cpus) - (x->cpus < y->cpus);
}

static int by_wall(const void *a, const void *b)
{
	const struct past *x = a, *y = b;

	return (x->wall_s > y->wall_s) - (x->wall_s < y->wall_s);
}

/* The first of sorted ones that is known. */
static size_t known_from(const struct past *past, size_t n,
			 int (*order)(const void *, const void *))
{
	const struct past none = { .peak_bytes = 0, .cpus = 0, .wall_s = 0 };
	size_t i = 0;

	while (i < n && order(&past[i], &none) < 0)
		i++;
	return i;
}

static size_t rank(size_t from, size_t n, double share)
{
	size_t known = n - from;
	size_t k = (size_t)ceil(share * (double)known);

	return from + (k ? k - 1 : 0);
}

static int64_t whole_mib(double bytes)
{
	return (int64_t)ceil(bytes / (double)MIB) * MIB;
}

static void memory(struct past *past, size_t n, struct suggestion *s)
{
	size_t from;
	double want;

	qsort(past, n, sizeof(*past), by_peak);
	from = known_from(past, n, by_peak);
	s->n_peaks = n - from;
	if (from == n)
		return;
	s->median_bytes = past[rank(from, n, 0.5)].peak_bytes;
	s->p95_bytes = past[rank(from, n, 0.95)].peak_bytes;
	s->max_bytes = past[n - 1].peak_bytes;
	for (size_t i = from; i < n; i++)
		if (past[i].for_memory)
			s->killed_bytes = past[i].peak_bytes;
	want = (double)s->p95_bytes * SPARE;
	if (want < (double)s->max_bytes)
		want = (double)s->max_bytes;
	if (s->killed_bytes > 0 && want < (double)s->killed_bytes * AFTER_A_KILL)
		want = (double)s->killed_bytes * AFTER_A_KILL;
	s->memory_bytes = whole_mib(want);
}

struct suggestion suggest(struct past *past, size_t n)
{
	struct suggestion s = { .runs = n,
				.median_bytes = -1,
				.p95_bytes = -1,
				.max_bytes = -1,
				.killed_bytes = -1,
				.memory_bytes = -1,
				.cpus = -1,
				.p95_wall_s = -1,
				.max_wall_s = -1 };
	size_t from;

	for (size_t i = 0; i < n; i++) {
		s.failed += past[i].failed;
		s.for_memory += past[i].for_memory;
	}
	if (!n)
		return s;
	memory(past, n, &s);
	qsort(past, n, sizeof(*past), by_cpus);
	from = known_from(past, n, by_cpus);
	if (from < n)
		s.cpus = (int64_t)fmax(1, ceil(past[rank(from, n, 0.95)].cpus - CPUS_SLACK));
	qsort(past, n, sizeof(*past), by_wall);
	from = known_from(past, n, by_wall);
	if (from < n) {
		s.p95_wall_s = past[rank(from, n, 0.95)].wall_s;
		s.max_wall_s = past[n - 1].wall_s;
	}
	return s;
}
