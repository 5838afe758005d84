// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/overlap.h"

#include <stdlib.h>
#include <string.h>

uint64_t overlap_begin(struct overlap *o)
{
	if (o->n == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 64;
		struct overlap_epoch *more = realloc(o->epochs, cap * sizeof(*more));

		if (!more)
			return 0;
		o->epochs = more;
		o->cap = cap;
	}
	o->epochs[o->n++] = (struct overlap_epoch){ .at = ++o->births, .living = 1 };
	return o->births;
}

static void drop(struct overlap *o, size_t i)
{
	memmove(&o->epochs[i], &o->epochs[i + 1], (--o->n - i) * sizeof(*o->epochs));
}

/* Whoever lived at an epoch and lives still, lived at the newer ones as well. */
static void drop_smaller(struct overlap *o)
{
	size_t kept = o->n, living = 0;
	int64_t best = -1;

	for (size_t i = o->n; i--;) {
		struct overlap_epoch *e = &o->epochs[i];

		if (e->sum > best) {
			if (kept < o->n)
				o->epochs[kept].living += living;
			living = 0;
			best = e->sum;
			o->epochs[--kept] = *e;
		} else {
			living += e->living;
		}
	}
	o->epochs[kept].living += living;
	o->n -= kept;
	memmove(o->epochs, &o->epochs[kept], o->n * sizeof(*o->epochs));
}

/* None is left that lived at epoch @i and not at the one before: the larger sum stands for both. */
static void join(struct overlap *o, size_t i)
{
	int64_t *before = i ? &o->epochs[i - 1].sum : &o->largest;

	if (o->epochs[i].sum > *before)
		*before = o->epochs[i].sum;
	drop(o, i);
}

void overlap_end(struct overlap *o, uint64_t birth, int64_t bytes)
{
	size_t own = o->n;

	for (size_t i = o->n; i-- && o->epochs[i].at >= birth;) {
		o->epochs[i].sum += bytes;
		own = i;
	}
	if (own == o->n)
		return;
	if (!--o->epochs[own].living)
		join(o, own);
	if (o->n)
		drop_smaller(o);
}

int64_t overlap_largest(const struct overlap *o)
{
	return o->largest;
}

void overlap_free(struct overlap *o)
{
	free(o->epochs);
	*o = (struct overlap){ 0 };
}
