/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial - what a run would be worth now, found by following one child to its end
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>

struct verdict {
	char source[16]; /* "bpf", "ptrace" or "proc" */
	char plan[64];   /* "": none */
	char cost[192];  /* what the plan costs; "": not said */
	char via[16];    /* whose programs; "": our own, or none */
	bool exact;
	char why[512];     /* it is not */
	char refused[256]; /* why the better source was; "" */
};

void trial_run(struct verdict *v);

#endif /* TRIAL_H */
