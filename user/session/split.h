/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - each child of what is attached to is a run of its own (--split)
 *
 * A run has its own totals from the source, its own meter, peaks and attempts, and one line in the
 * journal, the moment its first process ends.  Memory is that of the runs that live.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include "capture/source.h"
#include "journal/write.h"
#include "model/run.h"

struct split_run;
struct split_member;

struct split {
	bool on;
	bool wait_tree;        /* a run ends with its last descendant */
	const char *key;       /* as --split-key has it; NULL: comm */
	const char *start_env; /* the variable that is kept of each run; NULL: none */
	struct source *source;
	struct scan *scan; /* of the living; NULL: /proc is not read */
	struct journal *journal;
	const char *io_source;
	double min_sample_s;
	int n_cpus;
	int64_t start_ns; /* of the whole run: times in the journal count from there */
	bool exact_source;
	struct split_run *runs;
	struct split_member *members; /* the living of all runs, by pid */
	uint64_t begun;
	struct texts *reasons; /* of the whole run */
};

/* Each 0 or -ENOMEM; records of processes that are in no run are passed over. */
int split_on_fork(struct split *s, const struct fork_record *f);
int split_on_exec(struct split *s, const struct exec_record *e);
/*
 * What the variable that names a run, or that of its start, was at an exec of its first process
 * (NULL: not there); not @known: /proc is asked.
 */
int split_on_env(struct split *s, uint32_t place, enum run_variable which, bool known,
		 const char *value, size_t len);
/* *@ret_number: of its run, for its row; 0: of none. */
int split_on_exit(struct split *s, const struct exit_record *e, uint64_t *ret_number);
/* A living process's high-water mark is about to be set back. */
void split_on_mark(struct split *s, uint32_t place, struct process_key key, int64_t mark_bytes);
/* After the records there were: ends and forgets the runs of which all has ended. */
void split_on_drained(struct split *s);
/* A sample of each. */
void split_sample(struct split *s, int64_t at_ns);
/* The whole run is over: ends those that still run. */
void split_finish(struct split *s, int64_t at_ns);
void split_free(struct split *s);

/*
 * The run of a process (*@ret NULL: it is in none), or of that name or, where none has it, number.
 * NULL, or why there is none to speak of.
 */
const char *split_of_pid(const struct split *s, pid_t pid, struct split_run **ret);
const char *split_named(const struct split *s, const char *name, size_t len,
			struct split_run **ret);
struct run *split_run_model(struct split_run *r);
uint32_t split_run_place(const struct split_run *r);
uint64_t split_run_number(const struct split_run *r);

/* Whether a text is a --split-key: "comm", "cgroup", "ENV:NAME". */
bool split_key_valid(const char *key);
/* The NAME of ENV:NAME; NULL: it is another key. */
const char *split_key_variable(const char *key);

#endif /* SPLIT_H */
