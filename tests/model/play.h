/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play - a history told to the fold as a session tells a run to it, with its journal
 */
#ifndef PLAY_H
#define PLAY_H

#include "journal/write.h"
#include "model/run.h"
#include "tell.h"

#define SAMPLES_MAX (8 * STEPS_MAX)

/* A phase or attempt, and what was true at its borders. */
struct told {
	bool attempt;
	int64_t from_ns, to_ns; /* to_ns -1: open */
	int64_t cpu_from_ns, cpu_to_ns;
	const struct stretch *stretch; /* of the summary, in the end */
};

struct play {
	struct world w;
	const struct tell *tell;
	struct run run;
	struct journal journal;
	struct summary *summary; /* NULL: metering never began */
	struct process *rows[PROCESSES + 8];
	size_t n_rows;
	struct told told[STEPS_MAX];
	size_t n_told;
	int attempts; /* begun */
	bool attempt_open;
	int64_t at_ns, end_ns; /* of the run */
	int64_t sampled_ns, next_ns;
	int64_t cpu_sampled_ns;
	double cpus_max; /* of samples, as it must be */
	int64_t samples;
	bool root_ended;
	struct totals last; /* the source's, at the end */
};

/*
 * The first @steps of @h.  @journal_fd: where the journal goes, -1 none.  0, or -errno of the fold.
 */
int play(struct play *p, const struct history *h, size_t steps, int journal_fd);
void play_free(struct play *p);

/* What is wrong, a line each to @to; how many. */
int check(const struct play *p, FILE *to);
/* The same of what was read back: @json of the live one must be that of the read one. */
int check_journal(const struct play *p, int fd, FILE *to);

#endif /* PLAY_H */
