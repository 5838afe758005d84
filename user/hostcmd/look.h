/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look - one look at the host over a window, and how it is told
 */
#ifndef HOSTCMD_LOOK_H
#define HOSTCMD_LOOK_H

#include "host/load.h"
#include "model/env.h"

struct look {
	int64_t at_ns; /* since the epoch, at the end of the window */
	struct host_load load;
	struct env env;                       /* of this process, as a command would be started */
	struct psi waited_cpu, waited_memory, /* in the window */
		waited_io;
};

/* Takes as long as the window.  0, -EINTR: a signal came, or -ENOMEM; look_free in any case. */
int look_take(const struct load_source *s, int64_t window_ns, struct look *ret);
void look_free(struct look *l);

/* On stdout.  0 or -ENOMEM; what could not be written fflush tells. */
void look_print(const struct look *l);
void look_print_line(const struct look *l);
int look_print_json(const struct look *l);

#endif /* HOSTCMD_LOOK_H */
