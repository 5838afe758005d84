/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan_table - what is inside a scan: the living processes, a round of them
 */
#ifndef SCAN_TABLE_H
#define SCAN_TABLE_H

#include "hash.h"
#include "procfs/scan.h"

#define KEPT_FDS 512

enum watched_file { WATCHED_STATUS, WATCHED_STAT, WATCHED_IO, WATCHED_FILES };

struct watched {
	struct process_key key;
	UT_hash_handle hh;
	struct watched *next, *prev; /* the round */
	pid_t pid;
	uint32_t run;
	int64_t pss;            /* as it was read in this look; UNKNOWN: not */
	int64_t pss_rss_pages;  /* resident as the look began */
	bool pss_slow;          /* that took long */
	int fds[WATCHED_FILES]; /* -1: not kept */
	int64_t inherited;
	bool shared_mm;
	/* The reading before, to see what changed while it slept. */
	bool read_before;
	int64_t rss, switches;
	bool slept;
	struct proc_status status;   /* the newest */
	struct scan_counters before; /* what it had used before it was metered */
};

struct scan {
	struct watched *by_key;
	struct watched *round; /* where the next pass begins */
	size_t n, kept;
};

struct watched *scan_find(struct scan *s, struct process_key key);

/* Reads one file of it, on the descriptor that is kept if there is room.  0 or -errno. */
int watched_file(struct scan *s, struct watched *w, enum watched_file which, char *buf, size_t cap,
		 size_t *ret_len);

#endif /* SCAN_TABLE_H */
