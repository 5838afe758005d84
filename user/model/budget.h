/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget - what a run may use at most, and who went beyond it when
 *
 * Pure.  Bytes, ns and counts by the item; UNKNOWN unknown or no limit.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include "model/record.h"

enum budget_item {
	BUDGET_PEAK_RSS,  /* bytes */
	BUDGET_CPU,       /* ns */
	BUDGET_WALL,      /* ns */
	BUDGET_PROCESSES, /* all there ever were */
	BUDGET_ITEMS,
};

struct budget {
	int64_t limit[BUDGET_ITEMS]; /* itself allowed */
	bool upper;                  /* the peak's upper bound counts, not the lower */
};

/* One limit that was passed. */
struct budget_excess {
	enum budget_item item;
	int64_t limit, value;
	int64_t at_ns;          /* when that was first seen, since the run's start; or TIME_NONE */
	int32_t pid;            /* whose; UNKNOWN: not known */
	char comm[EM_COMM_LEN]; /* "": not known */
};

/* What a run came to. */
struct budget_result {
	bool asked; /* there was a budget */
	struct budget budget;
	struct budget_excess exceeded[BUDGET_ITEMS];
	size_t n_exceeded;
	bool unknown[BUDGET_ITEMS]; /* there is a limit, but no figure to hold to it */
};

/* The moments at which limits were passed, as far as they are seen while the run goes on. */
struct budget_watch {
	bool asked;
	struct budget budget;
	int64_t passed_ns[BUDGET_ITEMS]; /* since the run's start; TIME_NONE: not yet */
	int64_t born;
	int64_t ended_cpu_ns;   /* of all that have ended */
	struct process_key key; /* of the first process that was too many */
	int32_t pid;
	char comm[EM_COMM_LEN];
};

/*
 * "peak_rss=SIZE,cpu=S,wall=S,processes=N": any of them, each once, above 0; a size may end in K,
 * M, G or T, with iB or B behind it, which are powers of 1024.  0 and the limits of @ret, or
 * -EINVAL and a clause of why, static.
 */
int budget_parse(const char *text, struct budget *ret, const char **ret_why);
/* One size of that kind alone, in bytes. */
bool budget_size_parse(const char *text, int64_t *ret);

struct budget_watch budget_watch_blank(void);
struct budget_result budget_result_blank(void);
/* "peak_rss", and "peak_rss_bytes" with its unit. */
const char *budget_item_name(enum budget_item item);
const char *budget_item_field(enum budget_item item);
bool budget_item_is_time(enum budget_item item);

/* @rss_bytes: the most seen resident since the sample before. */
void budget_on_sample(struct budget_watch *w, const struct tree_sample *s, int64_t rss_bytes,
		      int64_t start_ns);
void budget_on_fork(struct budget_watch *w, const struct fork_record *f, int64_t start_ns);
/* A process ended, or its state so far: it may be the one that has no name yet. */
void budget_on_exit(struct budget_watch *w, const struct exit_record *e, int64_t start_ns);

struct summary;
/* From what the run came to; fills @s->budget. */
void budget_judge(const struct budget_watch *w, struct summary *s);

#endif /* BUDGET_H */
