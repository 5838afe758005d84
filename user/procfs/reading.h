/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading - what looking at processes gives, whoever looks: identity, memory, I/O
 *
 * Bytes and counts; UNKNOWN is "not known".
 */
#ifndef READING_H
#define READING_H

#include <stdbool.h>
#include <stdint.h>

#define UNKNOWN (-1)

/* Identity that survives pid reuse (SPEC U-23) and any exec. */
struct process_key {
	uint64_t start_ns; /* start of the thread group leader since boot */
	uint32_t tgid;
};

struct rss_split {
	int64_t anon_bytes, file_bytes, shmem_bytes, swap_bytes, hugetlb_bytes;
};

struct io_counts {
	int64_t read_bytes, write_bytes, cancelled_write_bytes, rchar, wchar, syscr, syscw;
};

extern const struct io_counts io_unknown;
/* Sums and differences; unknown where either part is. */
int64_t count_add(int64_t sum, int64_t more);
int64_t count_since(int64_t now, int64_t before);
void io_add(struct io_counts *sum, const struct io_counts *more);
void io_subtract(struct io_counts *now, const struct io_counts *before);

/* One reading of /proc for the living, all of them or what the time budget allowed. */
struct scan_result {
	bool complete;                    /* every living process was read */
	int64_t rss_bytes, net_rss_bytes; /* net of fork copies */
	struct rss_split split;
	int64_t threads, processes;
	int64_t awake; /* of them not asleep, or of several threads: they may change meanwhile */
	int64_t duration_ns;
	int64_t outside_grown_bytes; /* of processes that slept since the scan before */
	bool outside_changed;
};

/* One look at the proportional share of memory (PSS) of the living. */
struct pss_pass {
	bool whole;
	int err;                         /* why not: 0, or -errno of the first that failed */
	int64_t bytes;                   /* of all that were read */
	int64_t duration_ns, longest_ns; /* of the pass, and of one process */
};

/* What the living have used so far; ticks-sampled ns, counts, bytes.  UNKNOWN unknown. */
struct scan_counters {
	int64_t user_ns, system_ns, minor_faults, major_faults;
	int64_t voluntary_switches, involuntary_switches; /* of all their threads */
	struct io_counts io;
	int64_t marks_bytes; /* their high-water marks, added up */
};

#endif /* READING_H */
