/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - figures of runs under the names of INTERFACE 6, gathered run by run
 *
 * A series is named by the command and the labels of its run.  Of runs that have the same the one
 * that began last is told: nobody takes a series twice.  For a back-fill the run's id is a label
 * too, every figure has its time, and the marks are there.  What is unknown is left out.
 */
#ifndef METRICS_H
#define METRICS_H

#include "model/summary.h"

enum metric {
	METRIC_INFO,
	METRIC_PEAK,
	METRIC_CPU,
	METRIC_PEAK_CPUS,
	METRIC_DURATION,
	METRIC_START,
	METRIC_EXIT_STATUS,
	METRIC_PROCESSES,
	METRIC_FOREIGN,
	METRIC_COTENANT,
	METRIC_EXACT,
	METRIC_LOST,
	METRIC_ENERGY,
	METRIC_TREE_RSS,
	METRIC_TREE_CPU,
	METRIC_TREE_CPUS,
	METRIC_TREE_PROCESSES,
	METRIC_SELF_CPU,
	METRIC_SELF_RSS,
	METRIC_SELF_VM,
	METRIC_SELF_FDS,
	METRIC_SELF_MAX_FDS,
	METRIC_SELF_START,
	METRICS,
};

enum metric_type { TYPE_INFO, TYPE_GAUGE, TYPE_COUNTER };

struct metric_family {
	const char *name; /* without the _info or _total of its samples */
	enum metric_type type;
	const char *unit; /* NULL: none; the name ends in it */
	const char *help;
};

extern const struct metric_family metric_families[METRICS];

#define NO_TIME INT64_MIN

struct point {
	enum metric metric;
	const char *key; /* one more label, static; NULL: none */
	char *word;      /* its value, escaped */
	bool whole;      /* @count is the value, else @value */
	int64_t count;
	double value;
	int64_t at_ms; /* since the epoch; NO_TIME: none */
};

/* All points of one run, or of exitmeter itself. */
struct series {
	char *labels; /* escaped, with commas between; "" for none */
	char *kernel; /* escaped; NULL: not known */
	int64_t started_at_ns;
	bool live;
	struct point *points;
	size_t n, cap;
	int64_t at_ms; /* of points to come */
};

struct metrics {
	bool backfill;
	struct series *all;
	size_t n;
};

/* What a tree that is being metered takes now; UNKNOWN unknown. */
struct tree_now {
	int64_t rss_bytes, cpu_ns, processes;
	double cpus;
};

/* What a process says of itself; UNKNOWN unknown. */
struct self_now {
	int64_t cpu_ns, rss_bytes, vm_bytes, fds, max_fds, started_at_ns;
};

void metrics_init(struct metrics *m, bool backfill);
void metrics_free(struct metrics *m);

/* Each 0 or -ENOMEM. */
int metrics_add_run(struct metrics *m, const struct summary *s);
/* A run that goes on. */
int metrics_add_tree(struct metrics *m, const struct run_facts *run, const struct env *env,
		     const struct tree_now *now);
int metrics_add_self(struct metrics *m, const struct self_now *now);

/* A series to be filled, of which the labels are known.  0 or -ENOMEM. */
int series_begin(const struct metrics *m, const struct run_facts *run, const struct env *env,
		 bool live, struct series *ret);
/* One more point, to be filled.  NULL: out of memory. */
struct point *series_add(struct series *s, enum metric metric);
/* @m takes it over where filling it brought no @err, else it is freed.  @err, or -ENOMEM. */
int series_end(struct metrics *m, struct series *s, int err);

/* Whether the info of @of stands already in one before it. */
bool metrics_info_again(const struct metrics *m, const struct series *of);
/* The value as both texts have it; @cap at least 64. */
void point_text(const struct point *p, char *buf, size_t cap);

#endif /* METRICS_H */
