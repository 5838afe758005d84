/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow - one journal read on while it is written: what the run takes now, and what it came to
 *
 * Of several runs in it the newest is known.  Memory does not grow with its rows.  No descriptor
 * is kept: the file is opened where it changed.  One that was written anew, or that is another file
 * now, is begun anew; one that is gone is forgotten.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "journal/read.h"
#include "journal/read_env.h"
#include "lib/meter.h"
#include "model/top.h"

#define FOLLOW_HEAD  256 /* bytes that tell whether it is still the same */
#define FOLLOW_TOP   20  /* rows kept */
#define FOLLOW_MARKS 240

#define FOLLOW_RUNS 20 /* runs of a split tree kept, the latest */

/* One run of a split tree, that has ended. */
struct follow_run {
	char *name;                        /* owned; NULL: not known */
	int64_t pid, started_ns, ended_ns; /* TIME_NONE unknown */
	int64_t exit_code, exit_signal;
	struct usage usage; /* its peak and CPU alone */
};

struct follow_place {
	int64_t device, inode, size_bytes, mtime_ns;
};

struct follow {
	char *name;
	/* --- what is known --- */
	struct summary *run; /* what its first line tells, then its last; NULL: there is none yet */
	bool ended;          /* its last line is there */
	int64_t last_ns;     /* the largest t */
	struct sample_values now; /* the newest sample's; UNKNOWN before */
	int64_t sampled_ns;       /* its t; UNKNOWN: none */
	struct em_meter series;   /* memory and CPU over the run's seconds */
	struct top by_peak;
	int64_t rows, failed; /* that ended; with a code or a signal, those left out as last told */
	struct left_out left_out;
	struct follow_run runs[FOLLOW_RUNS]; /* a ring: n_runs % FOLLOW_RUNS is the next */
	int64_t n_runs;                      /* that ended */
	int64_t lost;
	char *phase; /* the newest */
	unsigned long long n_faults;
	struct journal_fault fault; /* the newest */
	/* --- where it is read --- */
	bool behind; /* there is more to be read */
	struct follow_place place;
	struct lines lines;
	long offset;
	char head[FOLLOW_HEAD];
	size_t n_head;
};

/* NULL: out of memory. */
struct follow *follow_new(const char *name);
void follow_free(struct follow *f);

/*
 * Reads on, at most @lines.  0; -ENOENT: it is not there (yet); or another -errno, and what is
 * known stays.
 */
int follow_read(struct follow *f, unsigned int lines);

#endif /* FOLLOW_H */
