/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load - was there a co-tenant during a run, and when most (SPEC 2.5)
 *
 * Pure: readings come in, verdicts go out.  Times are ns, UNKNOWN is unknown; foreign load is in
 * cores and may be below 0, NaN is unknown.
 */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/exitmeter.h"

/* A shorter span is not judged, and no window is shorter. */
#define LOAD_MIN_SPAN_NS 100000000LL /* EM_MIN_SPAN_SECONDS */

/* One look: at the machine since boot, at exitmeter and the tree since anything. */
struct load_reading {
	int64_t at_ns;             /* CLOCK_MONOTONIC */
	int64_t busy_ns, steal_ns; /* of all processors together; UNKNOWN: not to be read */
	int64_t self_ns, tree_ns;  /* CPU of exitmeter, of the tree with its ended and living */
};

/* The time between two looks. */
struct load_window {
	int64_t at_ns, span_ns; /* since the run's start */
	double foreign_cores;
	enum em_host verdict;
};

/* A look as the journal tells it: ns since the run's first one. */
struct load_sample {
	int64_t at_ns; /* since the run's start */
	int64_t busy_ns, own_ns, steal_ns;
	double foreign_cores; /* since the look before */
};

/* What a run came to (H-33). */
struct host_load {
	enum em_host verdict;
	double foreign_cores, threshold_cores;
	int64_t span_ns, window_ns, busy_ns, own_ns, steal_ns;
	char *reason; /* why there is no verdict; owned, NULL: there is one, or nothing is known */
	struct load_window worst; /* span_ns 0: none */
};

/* Folds the readings of one run. */
struct load_watch {
	struct load_reading first, last;
	struct load_window newest, worst; /* span_ns 0: none yet */
	bool begun;
};

struct host_load host_load_blank(void); /* nothing is known */
void host_load_free(struct host_load *h);

/* The first is where the run begins; each later one ends a window.  @start_ns: the run's 0. */
void load_on_reading(struct load_watch *w, const struct load_reading *r, int64_t start_ns);
/* The same from the journal. */
void load_on_sample(struct load_watch *w, const struct load_sample *s);
/* Between two readings; UNKNOWN also where a counter went back. */
int64_t load_busy_ns(const struct load_reading *from, const struct load_reading *to);
int64_t load_steal_ns(const struct load_reading *from, const struct load_reading *to);
int64_t load_own_ns(const struct load_reading *from, const struct load_reading *to);
/*
 * The verdict from the first reading to @last, where the run's own length was @window_ns: it is
 * shorter than the span where that was padded (H-24), else the same or not given (UNKNOWN).
 * Fills @ret but its worst window.  0 or -ENOMEM.
 */
int load_judge(const struct load_reading *first, const struct load_reading *last, int64_t window_ns,
	       struct host_load *ret);
/* The same for a whole run, its worst window too.  @last: NULL, the last one that came. */
int load_finish(const struct load_watch *w, const struct load_reading *last, int64_t window_ns,
		int64_t start_ns, struct host_load *ret);

#endif /* MODEL_LOAD_H */
