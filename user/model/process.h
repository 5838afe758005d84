/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - the row of one process: what the journal, the summary and every report say of it
 *
 * Times are ns since the run's start, TIME_NONE is unknown; sizes are bytes; UNKNOWN is unknown.
 * Rows are shared by count.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "model/record.h"
#include "units.h"

struct process {
	unsigned int refs;
	struct process_key key;
	int32_t pid, ppid;
	uint32_t run;
	bool left_out; /* the journal has no line of it */
	char comm[EM_COMM_LEN];
	int64_t started_ns, ended_ns;
	int64_t exit_code, exit_signal;
	int8_t core_dumped, oom_killed; /* UNKNOWN unknown */
	int8_t running;
	uint32_t notes; /* enum record_note */
	int64_t peak_rss_bytes, peak_error_bytes;
	int8_t peak_rss_exact;
	enum peak_source peak_source;
	int64_t final_peak_bytes; /* of the last image alone, as its VmHWM would be */
	int64_t inherited_rss_bytes, peak_vm_bytes;
	struct rss_split split;
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns;
	int64_t threads, execs;
	int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	struct io_counts io;
	int8_t argv_known, argv_truncated;
	size_t argv_len;
	char argv[]; /* NUL-separated */
};

/*
 * A row from an exit record, with the last image's arguments (NULL: never execed or not known).
 * One reference, the caller's.  NULL: out of memory.
 */
struct process *process_new(const struct exit_record *r, int64_t run_start_ns, const char *argv,
			    size_t argv_len, bool argv_truncated);
/* A row of which nothing is known yet, with room for arguments; one reference.  NULL: no memory. */
struct process *process_blank(size_t argv_len);
struct process *process_ref(struct process *p);
void process_unref(struct process *p); /* NULL is fine */

bool process_failed(const struct process *p); /* ended with a code other than 0, or by a signal */

/* "exit", "tracked", …; NULL for PEAK_NONE.  And back; PEAK_NONE for what is not known. */
const char *peak_source_name(enum peak_source source);
enum peak_source peak_source_of(const char *name);

/* The name of one bit of record_note; NULL for none. */
const char *record_note_name(enum record_note note);

#endif /* PROCESS_H */
