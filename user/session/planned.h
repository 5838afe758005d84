/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planned - attempts of --spans that are known when the run begins: they are followed as it goes
 * on, so that each sample is theirs as it comes (SPEC U-70a)
 */
#ifndef PLANNED_H
#define PLANNED_H

#include "session/control.h"

struct border;

struct planned {
	struct stretches all;
	struct border *borders; /* in order; those before @next were served */
	size_t n, next;
};

/*
 * Reads @path, if it is a file that is there; NULL: nothing.  What is no good in it, began before
 * the run or comes later is left to spans_add.  @started_at_ns: of the run, since the epoch.  0 or
 * -ENOMEM.
 */
int planned_open(struct planned *p, const char *path, int64_t started_at_ns);
/* When, since the run's start, the next one begins or ends; TIME_NONE: none does. */
int64_t planned_next_ns(const struct planned *p);
/* Begins and ends those that are due at @now_ns, since the run's start. */
void planned_serve(struct planned *p, struct control *c, int64_t now_ns);
void planned_close(struct planned *p);

#endif /* PLANNED_H */
