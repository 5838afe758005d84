/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - what a source says of processes and of the tree: plain values, the same from each source
 *
 * Memory is bytes, time is ns on CLOCK_MONOTONIC unless said otherwise, -1 (UNKNOWN) is unknown.
 * Text and arrays are borrowed for the call.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/load.h"
#include "procfs/reading.h"

#define EM_COMM_LEN 16

struct fork_record {
	struct process_key key;
	int32_t pid, ppid; /* as exitmeter's pid namespace sees them; ppid: its creator */
	uint32_t run;
	int64_t at_ns;
	int64_t inherited_rss_bytes;
	bool shared_mm; /* no address space of its own yet (vfork, CLONE_VM) */
	bool taken_in;  /* it was there before */
};

struct exec_record {
	struct process_key key;
	uint32_t run;
	int64_t at_ns;
	char comm[EM_COMM_LEN];
	const char *argv; /* NUL-separated */
	size_t argv_len;
	bool argv_known, argv_truncated;
	bool no_exec;          /* only tells what it runs already */
	int64_t at_peak_bytes; /* of the image that ended, in the sum at the peak of @at_peak_epoch
				*/
	uint64_t at_peak_epoch;
};

enum peak_source {
	PEAK_NONE,
	PEAK_EXIT,    /* read from the living address space at its end */
	PEAK_TRACKED, /* the kernel-side sum at switches and ticks */
	PEAK_SCAN,
	PEAK_VMHWM,    /* a live process's own high-water mark */
	PEAK_LIFETIME, /* likewise, and it may be from before it was attached to */
	PEAK_RUSAGE,
	PEAK_RESET, /* high-water marks that were set back first, added up */
	PEAK_MARKS, /* the run's marks, merged from samples */
};

enum record_note {
	NOTE_SHARED_MM = 1 << 0,    /* never had an address space of its own: no peak (U-134) */
	NOTE_HIWATER = 1 << 1,      /* the peak is the kernel's approximate mark */
	NOTE_REPAIRED = 1 << 2,     /* the exit hook was skipped: memory not seen at the end */
	NOTE_IMAGE_UNSEEN = 1 << 3, /* an earlier image's end was not seen */
	NOTE_UNTRACKED = 1 << 4,    /* not in the tree's sums */
	NOTE_MARK_RESET = 1 << 5, /* its high-water mark was reset: peaks before are from samples */
};

/* A process's end, or its state so far when @running. */
struct exit_record {
	struct process_key key;
	int32_t pid, ppid;
	uint32_t run;
	bool running;
	int64_t born_ns, ended_ns;
	char comm[EM_COMM_LEN];
	int32_t wait_status;      /* as wait(2); UNKNOWN unknown */
	int8_t oom_killed;        /* 0, 1, UNKNOWN */
	uint32_t notes;           /* enum record_note */
	int64_t peak_rss_bytes;   /* largest image */
	int64_t peak_since_bytes; /* PEAK_LIFETIME: since it is metered */
	int64_t peak_error_bytes; /* what it may be off by: 0 when exact, UNKNOWN without a bound */
	int8_t peak_rss_exact;    /* 0, 1 */
	enum peak_source peak_source;
	int64_t final_peak_bytes; /* of the last image alone, as its VmHWM would be */
	int64_t inherited_rss_bytes, peak_vm_bytes;
	struct rss_split split; /* at the end */
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns;
	int64_t threads, execs;
	int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	struct io_counts io;
	int64_t at_peak_bytes;
	uint64_t at_peak_epoch;
};

/*
 * @cpu_ns (UNKNOWN: nothing is changed) in the ratio of @user to @system, as the kernel's own
 * rusage does; all of it user where both are 0 (SPEC U-31).
 */
void cpu_split(int64_t cpu_ns, int64_t user, int64_t system, int64_t *ret_user,
	       int64_t *ret_system);

/* All of it unknown; a record begins with it. */
extern const struct exit_record exit_record_unknown;

struct oom_record {
	struct process_key key; /* start_ns 0: only the tgid is known */
	int32_t pid;
	int64_t at_ns;
	char comm[EM_COMM_LEN];
};

/* What a source knows of a whole run at one moment. */
struct totals {
	int64_t initial;         /* processes that were there at the start */
	int64_t baseline_cpu_ns; /* what those had used before; UNKNOWN: not attached */
	int64_t forks, exits, records, lost_exits, repaired;
	int64_t processes, processes_max, threads, threads_max;
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns; /* cpu_ns: the living included */
	int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	struct io_counts io;
	int64_t largest_peak_bytes, sum_peak_bytes; /* of ended processes */
	int64_t outside_bytes;                      /* that changed in processes that did not run */
	int64_t lower_bytes, upper_bytes;           /* the sums now */
	int64_t lower_max_bytes, upper_max_bytes, lower_max_at_ns;
	int64_t interval_max_bytes; /* the largest lower sum since the sample before */
	uint64_t epoch;             /* of lower_max */
};

#define UPPER_NONE 2 /* there are processes without a row */

/* A drop path: how often it was taken.  The name is one word, for the journal and the reasons. */
struct loss {
	const char *what;
	uint64_t count;
	int voids_upper; /* an upper bound no longer holds: the sum of all rows does, or none */
};

struct tree_sample {
	int64_t at_ns;
	struct totals totals;
	bool settled; /* the sums were brought up to now */
	bool whole; /* and every address space was read for that: nothing from outside is missed */
	bool scanned;
	struct scan_result scan;
	bool checked;      /* the kernel's sum could be compared with the scan */
	bool doubtful;     /* and differs from it */
	bool pages_stolen; /* /proc/vmstat moved since the sample before */
	bool load_read;    /* the machine's counters were looked at as well */
	struct load_reading load;
	int64_t pss_bytes; /* the largest share of memory seen since that; 0: it was not looked at
			    */
};

#endif /* RECORD_H */
