/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * living - runs of a split tree whose end has not been read, and which have ended
 *
 * Memory is that of those that live, and a bit for each that has ended.
 */
#ifndef RECORD_LIVING_H
#define RECORD_LIVING_H

#include "hash.h"
#include "record/ended.h"

#define LIVING_MAX (1 << 27) /* runs of a tree */

struct living_run {
	int64_t number; /* 0: the whole tree's, or of none */
	UT_hash_handle hh;
	struct ended x; /* its processes: ages of the whole run's start, below 0 after it */
};

struct living {
	struct living_run *runs;
	unsigned char *ended; /* bits */
	size_t ended_bytes;
};

/* Made where there is none.  NULL: out of memory. */
struct living_run *living_run(struct living *l, int64_t number);
/* Whether it is a number of a run, and its end was not read. */
bool living_may_be(const struct living *l, int64_t number);
/* Forgets it; its end was read.  0 or -ENOMEM. */
int living_end(struct living *l, struct living_run *r);
void living_free(struct living *l);

#endif /* RECORD_LIVING_H */
