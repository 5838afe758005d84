/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suggest - what to ask for next time, from what past runs of the same took
 *
 * Pure.  Sizes are bytes, times seconds; -1 is not known.
 */
#ifndef QUERY_SUGGEST_H
#define QUERY_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past {
	int64_t peak_bytes; /* the most it can have been */
	double cpus;        /* the most cores busy over a sample's interval, else its mean */
	double wall_s;
	bool failed;
	bool for_memory; /* it was killed for want of it: it would have taken more */
};

struct suggestion {
	size_t runs, failed, for_memory;
	size_t n_peaks; /* of how many the peak is known */
	int64_t median_bytes, p95_bytes, max_bytes;
	int64_t killed_bytes; /* the largest peak of those that were killed for memory */
	int64_t memory_bytes; /* to ask for */
	int64_t cpus;         /* likewise */
	double p95_wall_s, max_wall_s;
};

/*
 * Memory: the 95th percentile (nearest rank) of peaks and a tenth more, at least the largest, in
 * whole MiB; where a run was killed for want of memory at least twice what that had.  Cores: the
 * 95th percentile, rounded up from a tenth of a core above.  Reorders @past.
 */
struct suggestion suggest(struct past *past, size_t n);

#endif /* QUERY_SUGGEST_H */
