/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history - what the processes of a tree do, one step after the other; and what is true of that
 *
 * A history is made from a seed alone, and each beginning of one is one too.  The truth is plain
 * bookkeeping of what the steps say, and knows nothing of exitmeter.  Memory is pages, time is ns.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STEPS_MAX      240
#define PROCESSES      120 /* that there ever are in one */
#define MOMENTS_MAX    (4 * STEPS_MAX)
#define PAGE_BYTES     4096ll
#define PID_BASE       10000000 /* no kernel gives such a pid */
#define COUNTERS       13       /* as exit_event has them: utime and stime first */
#define START_NS       1000000000000ll
#define COUNTER_UTIME  0
#define COUNTER_STIME  1
#define COUNTER_MINFLT 2

enum what {
	STEP_WORK,       /* CPU only */
	STEP_FORK,       /* a copy of the address space, @n pages of it shared: all */
	STEP_VFORK,      /* the same address space, until an exec */
	STEP_EXEC,       /* a new image of @n pages */
	STEP_THREAD,     /* one more */
	STEP_THREAD_END, /* one less */
	STEP_GROW,       /* @n pages more */
	STEP_SHRINK,     /* @n pages less */
	STEP_BURST,      /* @n pages more and at once less: nobody looks in between */
	STEP_EXIT,       /* with the code @n */
	STEP_KILL,       /* by the signal @n */
	STEP_ATTACH,     /* metering begins here */
	STEP_PHASE,
	STEP_ATTEMPT, /* begins, or ends where one is open */
	STEPS,
};

struct step {
	enum what what;
	int who;
	int64_t n;
	int64_t at_ns;
	uint64_t luck; /* of whoever tells of it: how late, how far off */
};

enum teller { TELLER_BPF, TELLER_PTRACE, TELLER_PROC, TELLERS };

struct history {
	uint64_t seed;
	enum teller teller;
	int cpus;
	int64_t interval_ns; /* of samples; 0: none */
	int64_t noise;       /* what the kernel's marks are off by at most, pages */
	bool attach;
	bool losing; /* records find no room now and then */
	bool left;   /* it ends while some still run */
	bool budget;
	struct step steps[STEPS_MAX];
	size_t n;
};

/* The history of that seed. */
void history_make(struct history *h, uint64_t seed);
void history_print(const struct history *h, size_t steps, FILE *to);
const char *teller_name(enum teller t);

/* A number from a number, as if by chance. */
uint64_t luck_of(uint64_t x);

/* --- the truth ------------------------------------------------------------------------------ */

struct area {
	int64_t rss, inherited;
	int64_t peak; /* since metering began or it was born */
	int64_t mark; /* the kernel's, as far as it is up to date */
	int users;
};

struct being {
	bool alive, member, taken_in;
	bool held;       /* the command before its exec */
	bool shared;     /* no address space of its own */
	bool was_shared; /* at some time of its life */
	bool forked;     /* its image is the one it was born with */
	int creator, space;
	int64_t born_ns, ended_ns;
	int32_t wait_status;
	int64_t threads, threads_ever, execs;
	int64_t images; /* the largest of those before its last exec, net; -1 none */
	int64_t own;    /* the most of its image in its own time; -1 none */
	int64_t gross;  /* the most of any of its images */
	int64_t mark_before, rss_before;
	int64_t life;                       /* the most of its images before it was metered */
	int64_t cpu_ns, counters[COUNTERS]; /* while it is metered */
	int64_t cpu_before_ns;
	int image; /* which one its name tells of */
};

/* The sums from a moment on, until the next one. */
struct instant {
	int64_t at_ns, gross, net, threads;
};

struct truth {
	struct being all[PROCESSES];
	int n;
	struct area spaces[2 * PROCESSES + STEPS_MAX];
	int n_spaces;
	int64_t now_ns, begun_ns; /* begun_ns: -1 before metering */
	struct instant instants[MOMENTS_MAX];
	size_t n_instants;
	int64_t initial, forks, exits, alive, alive_max, threads, threads_max;
	int64_t gross_max, net_max, cpu_ns;
};

void truth_begin(struct truth *t, const struct history *h);
/* Metering begins: those that live are its first. */
void truth_attach(struct truth *t);
void truth_step(struct truth *t, const struct step *s, const struct history *h);
/* The largest sum in a time, both ends in it. */
int64_t truth_gross(const struct truth *t, int64_t from_ns, int64_t to_ns);
int64_t truth_net(const struct truth *t, int64_t from_ns, int64_t to_ns);
int64_t truth_net_now(const struct truth *t);
int64_t truth_threads(const struct truth *t, int64_t from_ns, int64_t to_ns);
/* The peak that its row has to have, of its time so far; -1 none. */
int64_t truth_peak(const struct truth *t, const struct being *b);

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif /* HISTORY_H */
