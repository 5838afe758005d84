/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run - the model: folds records and samples into one run (DESIGN: pure, no I/O, no clock)
 *
 * Times of records are ns on the source's clock; run_start says which moment is the run's 0.
 * Memory grows with the living, not with the ended: those become totals, groups and bounded lists.
 */
#ifndef RUN_H
#define RUN_H

#include "model/budget.h"
#include "model/load.h"
#include "model/peak.h"
#include "model/stretch.h"
#include "model/summary.h"
#include "model/top.h"

struct run {
	int64_t start_ns;
	struct tree tree;
	struct em_meter meter; /* its seconds are the run's */
	struct peak peak;
	struct groups groups;
	struct top by_peak, by_cpu, failed, running;
	struct totals totals; /* the newest */
	bool has_totals;
	int64_t root_pid;                           /* UNKNOWN: nobody told; its row is kept */
	struct process *root;                       /* a reference; NULL: not seen yet */
	int64_t rows, rows_running;                 /* records seen, ended and running */
	int64_t rows_refused;                       /* of ended ones, for want of memory */
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns; /* of all rows */
	int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	struct io_counts io;
	int64_t largest_inherited_bytes;
	int n_cpus;            /* of the machine: no more can be busy; 0 unknown */
	bool oom_seen;         /* of a row */
	int8_t oom_killed;     /* UNKNOWN without a source of evidence */
	bool counters_missing; /* of a process that still runs at the end */
	struct stretches phases, attempts;
	bool marks_set_back; /* of any process, on our behalf */
	int64_t reset_ns;    /* when all marks were last set back; TIME_NONE: never */
	struct load_watch load;
	struct budget_watch budget; /* the session sets what there is */
	struct texts notes, reasons;
};

/* 0 or -ENOMEM.  @min_sample_s: the sampling interval's floor. */
int run_init(struct run *r, int64_t start_ns, double min_sample_s, int n_cpus);
void run_free(struct run *r);

/* Each 0 or -ENOMEM. */
int run_on_fork(struct run *r, const struct fork_record *f);
int run_on_exec(struct run *r, const struct exec_record *e);
/* *@ret_row, if asked for, is a reference of the caller's. */
int run_on_exit(struct run *r, const struct exit_record *told, struct process **ret_row);
/* A row that was made before, read back from a journal; the run keeps references of its own. */
void run_on_row(struct run *r, struct process *row);

/* A periodic sample (false: too soon, dropped), or one that was asked for. */
bool run_on_sample(struct run *r, const struct tree_sample *s);
/* One that only tells of the bounds and the machine: no mark. */
void run_on_reading(struct run *r, const struct tree_sample *s);

/*
 * A reading that was asked for: always a mark (U-10), and a border for phases and attempts.
 * @living: what the living used so far; NULL: the source's totals have that.
 */
struct moment run_on_moment(struct run *r, const struct tree_sample *s,
			    const struct scan_counters *living);
/* A phase begins, the one before ends.  0 or -ENOMEM. */
int run_on_phase(struct run *r, const char *name, size_t len, const struct moment *m);
/* 0, -EEXIST: one of that name is open, or -ENOMEM. */
int run_on_attempt_start(struct run *r, const char *id, size_t len, const struct moment *m);
/* The one that ended; NULL: none of that name is open. */
struct stretch *run_on_attempt_end(struct run *r, const char *id, size_t len,
				   const struct moment *m);

/* A living process's high-water mark is about to be set back: its row has at least that. */
void run_on_mark(struct run *r, struct process_key key, int64_t mark_bytes);
/* The marks were set back, @all of them or not. */
void run_on_reset(struct run *r, const struct moment *m, bool all);
/* Peak (the lower bound), CPU and cores up to the last look. */
struct em_usage run_usage_so_far(const struct run *r);

/* The most that was seen resident since the sample before: what the mark holds. */
int64_t run_sample_rss(const struct tree_sample *s);

/* What the end of a run is told of. */
struct run_end {
	int64_t at_ns;
	struct totals totals;
	const struct loss *losses;
	size_t n_losses;
	bool exact_source;    /* every end was seen by a source that can be exact */
	bool records_missing; /* an exit that had begun never sent its record */
	/* What those that go on have used, of whom there are no rows; NULL: of all there are. */
	const struct scan_counters *living;
	struct rusage_facts rusage;
	/* The last look at the machine; its tree_ns is the run's own CPU.  NULL: there was none. */
	const struct load_reading *load;
	int64_t window_ns; /* how long the run was, where it was waited on (H-24); UNKNOWN: not */
};

/*
 * Ends the run and fills @s: completeness, usage, lists and marks; run and source facts are the
 * caller's.  0 or -ENOMEM.
 */
int run_finish(struct run *r, const struct run_end *end, enum top_order sort, struct summary *s);

#endif /* RUN_H */
