/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_fold - the lines of one run folded into the model again, and what comes of them
 */
#ifndef JOURNAL_READ_FOLD_H
#define JOURNAL_READ_FOLD_H

#include "journal/read_env.h"
#include "journal/read_stretch.h"
#include "model/run.h"

struct fold {
	struct run run;
	bool run_open; /* a row or sample was taken */
	bool known;    /* something of a journal was seen */
	bool started;
	struct run_facts facts; /* of run_start */
	struct source_facts source;
	struct env env;
	int64_t n_cpus;
	int64_t last_ns; /* the largest t */
	/* Of samples, the run's time being 0 at its start. */
	int64_t sampled_ns, upper_bytes, processes_max, threads_max;
	int64_t largest_row_bytes, repaired;
	int64_t since_bytes; /* the peaks of rows since the last sample */
	int64_t pss_bytes;
	bool voids;
	bool faults_known, switches_known, io_known;
	struct told_stretches stretches;
	struct left_out left_out;
	struct summary *told; /* by the journal's last line */
	int64_t told_ns;
};

void fold_init(struct fold *f);
/* Whether it has a line: a run_start behind that is another run's. */
bool fold_begun(const struct fold *f);
/* A line of it.  0, -EBADMSG with the reason in @why, or -ENOMEM. */
int fold_line(struct fold *f, const char *event, json_object *o, struct why *why);
/* *@ret, owned: the run as it was told, or as far as it is there.  0 or -ENOMEM. */
int fold_finish(struct fold *f, enum top_order sort, struct summary **ret);
void fold_free(struct fold *f);

#endif /* JOURNAL_READ_FOLD_H */
