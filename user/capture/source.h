/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source - where records come from: BPF, ptrace, or plain /proc and wait4
 *
 * One interface for all; the session does not know which it has.  Not thread safe.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/record.h"
#include "model/texts.h"

struct rusage;

enum run_variable { RUN_NAME, RUN_START };

/* Called from source_drain and source_finish.  Return 0, or -errno to stop. */
struct source_sink {
	void *ctx;
	int (*on_fork)(void *ctx, const struct fork_record *r);
	int (*on_exec)(void *ctx, const struct exec_record *r);
	int (*on_exit)(void *ctx, const struct exit_record *r);
	int (*on_oom)(void *ctx, const struct oom_record *r);
	/*
	 * With split_env and start_env: @value (@len bytes, cut at 512 with the name; NULL: it has
	 * none) of the variable in the first process of @run, as an exec left it; not @known: it
	 * has too many.
	 */
	int (*on_env)(void *ctx, uint32_t run, enum run_variable which, bool known,
		      const char *value, size_t len);
};

/* For whom the programs are loaded, when that is not this process (exitmeter-probed). */
struct source_lent {
	pid_t client;
	uid_t uid;
	gid_t gid;
	int (*wake)(void *ctx); /* makes the client, which waits, run for a moment.  0 or -errno */
	void *ctx;
};

struct source_options {
	pid_t root;         /* the held child */
	const pid_t *roots; /* or what to attach to */
	size_t n_roots;
	bool tick;                      /* kernel-side tick */
	bool split;                     /* each child of a root is a run of its own */
	const char *split_env;          /* the variable it is named by; NULL: none */
	const char *start_env;          /* the one that holds the number of its start; NULL: none */
	bool debug;                     /* libbpf's and our own messages on stderr */
	const char *plan;               /* the hook plan to use; NULL: the best that works */
	const char *program;            /* the file that @root will execute; NULL: not known */
	const struct source_lent *lent; /* NULL: for ourselves */
};

/* What the record says of the source; texts are static or owned by it. */
struct source_info {
	const char *exits;    /* "bpf", "ptrace", "proc" */
	const char *via;      /* who loaded the programs for us, "probed"; NULL: we did */
	const char *hook;     /* NULL: none */
	const char *tree;     /* "fork-events", "ppid" */
	const char *samples;  /* "bpf-tick+proc", "bpf+proc", "proc" */
	bool exact;           /* each end can be */
	bool sums;            /* it has the tree's resident memory itself: scans may be partial */
	const char *degraded; /* why the figures cannot be all the same; NULL */
	const char *cost;     /* what the hook costs, a clause for the user; NULL: not said */
	const char *refused;  /* what would have been better, and why not; NULL or "": nothing */
	int64_t stops;        /* of processes for its sake, and how long; UNKNOWN: none are made */
	int64_t stopped_ns;
};

struct source;

struct source_ops {
	int (*drain)(struct source *s);
	int (*sample)(struct source *s, struct tree_sample *ret);
	int (*finish)(struct source *s, bool root_ended, struct totals *ret);
	int (*poll_fd)(struct source *s);
	int (*poll_ms)(struct source *s);
	size_t (*losses)(struct source *s, struct loss *out, size_t cap);
	void (*ending)(struct source *s, pid_t pid); /* NULL: it is not interested */
	void (*reaped)(struct source *s, pid_t pid, int status, const struct rusage *ru);
	int (*run_totals)(struct source *s, uint32_t run, bool take, struct totals *ret);
	void (*run_release)(struct source *s, uint32_t run);
	void (*close)(struct source *s);
};

/* The common part; a source embeds it first. */
struct source {
	const struct source_ops *ops;
	struct source_sink sink;
	struct source_info info;
	struct texts notes; /* for the record: of what it leaves out, whom it disturbs */
	pid_t helper;       /* a process of its own that runs; 0: none */
	int64_t helper_cpu_ns, helper_rss_bytes; /* of that, once it has ended */
};

/*
 * Open: loads and attaches what is needed and takes in the held child or the tree that is there.  0
 * and *@ret_source, owned by the caller; or -errno and, in @why (@cap bytes), one clause that says
 * what is missing and what would allow it.
 */
int source_bpf_open(const struct source_options *o, const struct source_sink *sink,
		    struct source **ret_source, char *why, size_t cap);
/* The same with programs that exitmeter-probed loads; *@why is "" where there is none. */
int source_probed_open(const struct source_options *o, const struct source_sink *sink,
		       struct source **ret_source, char *why, size_t cap);
int source_ptrace_open(const struct source_options *o, const struct source_sink *sink,
		       struct source **ret_source, char *why, size_t cap);
int source_proc_open(const struct source_options *o, const struct source_sink *sink,
		     struct source **ret_source, char *why, size_t cap);

/* Hands on all records there are.  0, or the sink's error. */
int source_drain(struct source *s);

/*
 * The tree's totals now, the interval maximum taken; a source that reads /proc itself also fills
 * the scan.
 */
int source_sample(struct source *s, struct tree_sample *ret);

/*
 * The run is over: waits until every exit that has begun has sent its record (at most a second:
 * wait4 returns before the last switch of the root), then hands on those still running as exit
 * records with @running.  @root_ended: it was waited for, or seen to have ended.  -ETIME when a
 * record did not come.
 */
int source_finish(struct source *s, bool root_ended, struct totals *ret);

/* A descriptor that becomes readable when a drain is due early, or -1. */
int source_poll_fd(struct source *s);

/* How long the next drain may wait, in ms; -1 for ever (an idle tree: poll_fd tells). */
int source_poll_ms(struct source *s);

#define LOSSES_MAX 32
/* Every drop path that was taken, at most @cap (none has more than LOSSES_MAX); returns how many.
 */
size_t source_losses(struct source *s, struct loss *out, size_t cap);

/* A child of ours has ended and is about to be waited for. */
void source_ending(struct source *s, pid_t pid);
/* wait4's word of it. */
void source_reaped(struct source *s, pid_t pid, int status, const struct rusage *ru);

/*
 * The totals of one run of a tree that is split, by the number its records have; the interval
 * maximum is taken.  -ENOTSUP: this source does not know them.
 */
int source_run_totals(struct source *s, uint32_t run, struct totals *ret);
/* The same, nothing taken. */
int source_run_counts(struct source *s, uint32_t run, struct totals *ret);
/* All of the run has ended and was handed on: its number may be another's. */
void source_run_release(struct source *s, uint32_t run);

/*
 * A source beside another, for single processes that the other cannot have, and all below them;
 * NULL: out of memory.
 */
struct source *source_proc_beside(const struct source_sink *sink);
/* 0, -ESRCH: it is gone; or -errno. */
int source_proc_follow(struct source *beside, pid_t pid);

/* Names a program that it disturbs. */
void source_disturbs(struct source *s, const char *program, const char *how);

/* Detaches and frees; NULL is fine. */
void source_close(struct source *s);

#endif /* SOURCE_H */
