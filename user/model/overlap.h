/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overlap - the largest sum of what lived at one moment, where each one's size is known only when
 * it ends
 *
 * An upper bound of a tree's peak without readings in between: at any time every address space has
 * at most what it came to in all.  The sum can be largest only just after a birth, so it is kept
 * for births, and of those only for the ones that may still become the largest: no more than there
 * are living ones.  Bytes.
 */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <stddef.h>
#include <stdint.h>

struct overlap_epoch {
	uint64_t at;   /* the birth it begins with */
	size_t living; /* that were born since the epoch before */
	int64_t sum;   /* of those who lived then and have ended */
};

struct overlap {
	struct overlap_epoch *epochs; /* oldest first */
	size_t n, cap;
	uint64_t births;
	int64_t largest; /* of moments of which nobody lives any more */
};

/* The birth's number, for overlap_end; 0: out of memory. */
uint64_t overlap_begin(struct overlap *o);
/* The one of that @birth ended and came to @bytes. */
void overlap_end(struct overlap *o, uint64_t birth, int64_t bytes);
/* Once all have ended: the largest sum. */
int64_t overlap_largest(const struct overlap *o);
void overlap_free(struct overlap *o);

#endif /* OVERLAP_H */
