/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked - dearer readings that a run was asked for, from before it starts to its summary
 */
#ifndef ASKED_H
#define ASKED_H

#include "config.h"
#include "host/cgroup_own.h"
#include "host/energy_run.h"
#include "host/pss.h"
#include "model/run.h"

struct asked {
	struct cgroup_own cgroup;
	struct cgroup_use use;
	struct energy_run energy;
};

/* While the command @child (0: attached, there is none) is held, with all privileges there are. */
void asked_prepare(struct asked *a, const struct config *c, pid_t child);
/* It is about to be let go. */
void asked_start(struct asked *a, int64_t now_ns);
/* The run has ended at @now_ns. */
void asked_stop(struct asked *a, int64_t now_ns);
/* Its records are in; what is evidence goes into @run. */
void asked_end(struct asked *a, struct run *run);
/* 0 or -ENOMEM. */
int asked_fill(const struct asked *a, const struct pss *p, struct summary *s);
void asked_close(struct asked *a);

#endif /* ASKED_H */
