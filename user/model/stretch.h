/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stretch - a named part of a run, a phase or an attempt, and what the tree used in it (SPEC 3.1)
 *
 * Known while the run goes on it takes every sample as it comes, before marks are merged (U-70a);
 * its borders are readings, so its CPU is exact.  Times are ns since the run's start, sizes bytes;
 * UNKNOWN is unknown.
 */
#ifndef STRETCH_H
#define STRETCH_H

#include "model/counters.h"
#include "model/env.h"
#include "model/process.h"

#define STRETCHES_MAX 10000 /* that are kept; of more the oldest are only counted */
#define RSS_AT_MAX    64    /* phases remembered in an attempt */

/* A reading that was asked for. */
struct moment {
	int64_t at_ns;
	int64_t rss_bytes;       /* resident now */
	enum peak_source source; /* of that */
	int64_t threads;
	int64_t marks_bytes; /* the living processes' high-water marks, added up */
	struct counters so_far;
};

struct rss_at {
	char *name;
	int64_t rss_bytes;
};

struct stretch {
	struct stretch *next;
	char *name;
	int64_t started_ns, ended_ns; /* TIME_NONE: not ended */
	int64_t rss_bytes;            /* at its start */
	struct counters before;       /* at its start */
	struct counters used;         /* in it, once it ended */
	int64_t peak_rss_bytes;
	enum peak_source source;
	double peak_cpus;
	int64_t peak_sum_bytes;      /* once it ended */
	enum peak_source sum_source; /* of that */
	int64_t met_bytes; /* the largest peak of who lived in it, for some time of his life */
	enum peak_source met_source; /* of that; kept of an attempt while it is the only one */
	bool marks_reset;            /* at its start, or since: */
	int64_t ended_peaks_bytes;   /* of what ended since then, added up, */
	int64_t earlier_bytes;       /* and the marks that were set back once more */
	struct rss_split split;      /* at the scan where the most was resident */
	int64_t split_bytes;         /* then */
	int64_t max_threads;
	struct rss_at *rss_at;
	size_t n_rss_at;
	struct disk disk; /* when it ended; path NULL: nobody asked */
	bool settled;     /* no sample or exit can change it any more */
};

/* In order of their starts. */
struct stretches {
	struct stretch *first, *last;
	struct stretch *live; /* the first that is not settled */
	size_t n;
	int64_t omitted;
};

/* 0 or -ENOMEM; a stretch that begins at @m. */
int stretch_start(struct stretches *all, const char *name, size_t name_len, const struct moment *m);
/* The open one of that name, or, with NULL, the last one if it is open; NULL: none. */
struct stretch *stretch_open(const struct stretches *all, const char *name, size_t name_len);
void stretch_end(struct stretch *s, const struct moment *m);

/* A look at the tree: the most resident since the look before, and the scan if one was made. */
void stretches_on_look(struct stretches *all, int64_t rss_bytes, enum peak_source source,
		       const struct scan_result *scan, int64_t threads);
/* A sample's interval, of which @cpus is the mean. */
void stretches_on_cpus(struct stretches *all, int64_t from_ns, double cpus);
/* A process ended; it raises those it lived inside of (U-130). */
void stretches_on_exit(struct stretches *all, int64_t born_ns, int64_t ended_ns,
		       int64_t peak_bytes);
/*
 * High-water marks were set back to what is resident now, @whole: every one.  What they were before
 * @m has them.
 */
void stretches_on_reset(struct stretches *all, const struct moment *m, bool whole);
/* A phase's resting memory, for attempts that are open.  0, -ENOMEM, or -E2BIG: one has too many.
 */
int stretches_on_phase(struct stretches *all, const char *name, int64_t rss_bytes);
/* No record of what ended before can come any more; keeps STRETCHES_MAX. */
void stretches_settle(struct stretches *all, int64_t before_ns);
/* All of @from behind those of @to. */
void stretches_move(struct stretches *to, struct stretches *from);
void stretch_remove(struct stretches *all, struct stretch *s);
void stretches_free(struct stretches *all);

/* A blank one at the end of the list, for those who read one.  NULL: out of memory. */
struct stretch *stretch_add(struct stretches *all, const char *name, size_t name_len);

#endif /* STRETCH_H */
