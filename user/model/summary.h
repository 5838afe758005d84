/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary - a run as every report sees it (INTERFACE 3)
 *
 * Bytes, ns, counts; UNKNOWN unknown, TIME_NONE for times since the run's start.  Filled by
 * run_summary from the model, live or folded from a journal; everything in it is owned by it.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "model/budget.h"
#include "model/energy.h"
#include "model/env.h"
#include "model/group.h"
#include "lib/meter.h"
#include "model/load.h"
#include "model/process.h"
#include "model/stretch.h"
#include "model/texts.h"
#include "model/tree.h"

#define ROWS_BY_PEAK 400
#define ROWS_BY_CPU  300
#define ROWS_FAILED  150
#define ROWS_RUNNING 150

struct label {
	char *key, *value;
};

struct run_facts {
	char *id;
	struct label *labels;
	size_t n_labels;
	char *mode;
	char **command; /* NULL-terminated; NULL: not recorded */
	int64_t pid;
	char *cwd;
	char *exe_path, *exe_build_id;
	int64_t exe_size_bytes, exe_mtime_ns, exe_inode;
	int64_t started_at_ns; /* since the epoch */
	int64_t wall_ns, exit_code, exit_signal;
	int8_t core_dumped, oom_killed, detached;
	int64_t repeat, repeats; /* it is that one of so many (-r); UNKNOWN: of none */
};

/* How a note of a program begins that runs otherwise under the source than without it. */
#define SOURCE_DISTURBED "disturbed: "

struct source_facts {
	char *exits, *via, *hook, *fallback_reason, *tree, *samples;
	int64_t interval_ns;
	int64_t self_cpu_ns, self_peak_rss_bytes;
	int64_t stops, stopped_ns; /* of processes, for the source's sake */
	/* What looking at shares of memory took: looks, all of them, the longest of one process. */
	int64_t pss_readings, pss_ns, pss_longest_ns;
	struct texts notes;
};

struct completeness {
	int64_t initial, forks, exits, running_at_end, events_lost, records_repaired;
	int8_t exact;
	struct texts reasons;
};

struct usage {
	int64_t peak_lower_bytes, peak_upper_bytes, peak_at_ns;
	enum peak_source peak_source;
	int64_t peak_process_bytes, peak_sum_bytes, peak_pss_bytes, cgroup_peak_bytes;
	struct rss_split split;
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns;
	double peak_cpus, mean_cpus;
	int64_t baseline_cpu_ns; /* used before it was attached to: not in cpu_ns */
	int64_t max_processes, total_processes, max_threads;
	int64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
	struct io_counts io;
	char *io_source;
};

struct rusage_facts {
	int64_t maxrss_bytes, cpu_user_ns, cpu_system_ns;
};

/* What the journal has no line of, since it had reached the size it may have. */
struct left_out {
	int64_t from_ns;           /* when the first was; TIME_NONE: nothing */
	int64_t processes, failed; /* rows, and how many of them failed */
	int64_t samples;
};

struct summary {
	struct run_facts run;
	struct source_facts source;
	struct completeness completeness;
	struct usage usage;
	struct rusage_facts rusage;
	struct at_peak at_peak[AT_PEAK_MAX];
	size_t n_at_peak;
	struct group groups[GROUPS_MAX + 1];
	size_t n_groups;
	struct process *root;  /* a reference; NULL: its row was lost, or it is in another run */
	struct process **rows; /* references */
	size_t n_rows;
	int64_t rows_omitted;
	int64_t aged_at_ns; /* since the epoch */
	int64_t aged_ns;    /* the same moment since the run's start */
	struct stretches phases, attempts;
	struct host_load host_load;
	struct budget_result budget;
	struct env env;
	struct energy *energies; /* in the order of their sources */
	size_t n_energies;
	struct disk *disks;
	size_t n_disks;
	struct em_mark marks[EM_MAX_MARKS];
	size_t n_marks;
	bool cut_off; /* the journal ended before its last line */
	struct left_out left_out;
};

struct run_facts facts_blank(void); /* all unknown */
struct left_out left_out_blank(void);
void facts_free(struct run_facts *f);
void source_facts_free(struct source_facts *f);
void disks_free(struct disk *disks, size_t n);
struct summary *summary_new(void); /* all unknown; NULL: out of memory */
void summary_free(struct summary *s);

#endif /* SUMMARY_H */
