/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env - reading the machine and its state for the record (SPEC 3.4)
 *
 * In three steps, so that the command waits for the first alone: that is two system calls.
 */
#ifndef HOST_ENV_H
#define HOST_ENV_H

#include <sys/types.h>

#include "model/env.h"

struct env_reading {
	pid_t of;            /* an attached process; 0: the command's, as ours */
	int64_t start_ticks; /* of steal */
};

/* How @root is scheduled, while it is held. */
void env_read_root(struct env *e, pid_t root);
/* What is known at the start.  @cwd: the run's folder, or NULL. */
void env_read_start(struct env *e, struct env_reading *r, const char *cwd, int64_t cpus);
/* What the end adds. */
void env_read_end(struct env *e, const struct env_reading *r);

#endif /* HOST_ENV_H */
