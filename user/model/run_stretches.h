/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_stretches - a run's phases and attempts, for run.c: what they are told of it
 */
#ifndef RUN_STRETCHES_H
#define RUN_STRETCHES_H

#include "model/run.h"

/* A periodic sample; @from: seconds, where its interval began. */
void run_stretches_on_sample(struct run *r, const struct tree_sample *s, double from);
/* Of one that ended or still runs at the end. */
void run_stretches_on_row(struct run *r, const struct process *row);
void run_stretches_on_exit(struct run *r, const struct process *row);
/* Closes those that are open, at the run's end, and moves all into @s, which has its usage. */
void run_stretches_end(struct run *r, const struct run_end *end, struct summary *s);

/* In run.c: a total that no more cores than there are can have used. */
double run_plausible_cpu(const struct run *r, double cpu, double now);

#endif /* RUN_STRETCHES_H */
