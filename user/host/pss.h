/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pss - when to look at the proportional share of memory, and the most that was seen (SPEC L-53)
 *
 * The kernel walks all page tables of a process for it, and whoever maps or unmaps memory there
 * waits meanwhile.  So a look is worth it where the tree has come to more than at any look before,
 * or once a second; all of them together take a twentieth of the time at most, and after one in
 * which a process took long a turn is left out.  Pure: times are the caller's.
 */
#ifndef HOST_PSS_H
#define HOST_PSS_H

#include "procfs/reading.h"

#define PSS_LIMIT_NS (250 * 1000000LL) /* a look that takes longer is given up */

struct pss {
	bool wanted, on;
	int64_t peak_bytes;  /* of looks that were whole; UNKNOWN: there was none */
	int64_t since_bytes; /* the same since it was last taken */
	int64_t high_bytes;  /* of the tree's resident memory, at a look */
	int64_t last_ns, next_ns;
	bool rest; /* the next turn is left out */
	int64_t readings, spent_ns, longest_ns;
	int64_t failed; /* looks that were not whole, and why the last one was not */
	int err;
};

/* @err: 0, or -errno: it cannot be read here. */
void pss_init(struct pss *p, bool wanted, int err);
/* Whether to look now, the tree having @rss_bytes (UNKNOWN: not known); @asked: somebody waits. */
bool pss_due(struct pss *p, int64_t now_ns, int64_t rss_bytes, bool asked);
/* A look that ended at @now_ns. */
void pss_take(struct pss *p, int64_t now_ns, int64_t rss_bytes, const struct pss_pass *pass);
/* The most seen since it was asked before; UNKNOWN: nothing was. */
int64_t pss_since(struct pss *p);
/* Why there is no figure, or no look was whole at times; NULL: nothing to say. */
const char *pss_reason(const struct pss *p);

#endif /* HOST_PSS_H */
