/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gates - what a run is held to: a quiet host before and during it, a budget (INTERFACE 2)
 */
#ifndef SESSION_GATES_H
#define SESSION_GATES_H

#include "config.h"
#include "model/summary.h"

/* What the gates found, once the run is over. */
struct gates {
	bool over_budget, not_quiet;
};

/*
 * Before the start: waits for a quiet host as long as is allowed.  0: go on, *@ret_gave_up whether
 * it never was; or -EBUSY, a line said, and *@ret_status: it has to be.
 */
int gates_wait(const struct config *c, bool *ret_gave_up, int *ret_status);
/* Looks at what @s has, and says what cannot be judged. */
void gates_judge(const struct config *c, const struct summary *s, struct gates *ret);
/* What to end with instead of @status, which the command ended with or 0; says why. */
int gates_status(const struct config *c, const struct gates *g, int status);

#endif /* SESSION_GATES_H */
