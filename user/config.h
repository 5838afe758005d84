/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config - what the command line asked for; texts are borrowed from it
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler.h"
#include "kinds.h"
#include "made.h"
#include "terminal.h"

#define STATUS_NOT_QUIET      122 /* --require-quiet */
#define STATUS_OVER_BUDGET    123 /* --budget */
#define STATUS_FAILED         125 /* exitmeter itself failed */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND      127

enum source_choice { SOURCE_AUTO, SOURCE_BPF, SOURCE_PROBED, SOURCE_PTRACE, SOURCE_PROC };

enum sort_choice { SORT_PEAK, SORT_CPU, SORT_START };

struct config {
	char **command; /* NULL-terminated; NULL: attach */
	int *pids;      /* to attach to, owned; each once */
	size_t n_pids;
	bool split;            /* each child of what is attached to is a run */
	const char *split_key; /* NULL: comm */
	double duration_s;     /* 0: until the target ends */
	/* Where outputs go: a path, "-" for stdout, "fd:N"; NULL for none. */
	const char *report; /* NULL: stderr */
	const char *json, *journal;
	int64_t journal_max; /* bytes of the journal; 0: no limit */
	const char
		*control;  /* where phases and attempts are named from, beside the private socket */
	const char *spans; /* attempts known before or after; NULL: none */
	const char *made[MADE_N];
	char *expanded[3 + MADE_N]; /* owned: those of them that were not so on the command line */
	size_t n_expanded;
	const struct report_kind *kind;
	enum when colour, progress;
	const char *format; /* of kind_time */
	bool own_lines;     /* text behind that */
	bool append, quiet;
	double interval_s; /* 0: phases and exits only */
	bool tick;
	long top;  /* rows listed in the text report */
	bool list; /* -n, --sort or --all was given: the text report lists processes */
	bool all;
	enum sort_choice sort;
	const char *user; /* that the command runs as; NULL: ours */
	bool wait_tree, argv, require_exact, debug;
	enum source_choice source;
	bool source_given;       /* on the command line */
	const char *source_plan; /* NULL: the best */
	const char *run_id;      /* NULL: a new one */
	long repeat;             /* runs, one after the other; 0: one */
	const char **labels;     /* "K=V", owned */
	size_t n_labels;
	/* What it is held to: */
	const char *budget, *budget_on; /* as written, and good; NULL: none */
	bool require_quiet, wait_quiet;
	double wait_quiet_s;
	long fail_status; /* -1: each its own */
	bool pss, cgroup;
	const char *energy; /* which counters: "auto", or a source's name; NULL: none */
	const char **disks; /* folders to measure at the end, owned */
	size_t n_disks;
	char **to; /* URLs to record in, owned, as are the texts */
	size_t n_to;
	struct scheduler scheduler; /* whose attempts are recorded */
	const char *spool;          /* NULL: the default */
};

#endif /* CONFIG_H */
