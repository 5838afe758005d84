/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - who shares a meter out among the attempts of a scheduler's database (SPEC 1.12)
 */
#ifndef SERVE_RECORDER_H
#define SERVE_RECORDER_H

#include "serve/exited.h"

struct recorder {
	/*
	 * @e, whose ages were right at @received_ns (CLOCK_MONOTONIC): whatever time goes by until
	 * the database is asked for its now is to be added.  0 and how many attempts were written
	 * in *@ret_attempts; -errno with the reason in @why, which names no password: -EAGAIN, it
	 * may work later; anything else, it will not.
	 */
	int (*record)(void *ctx, const struct exited *e, int64_t received_ns, int64_t *ret_attempts,
		      char why[EXITED_WHY_MAX]);
	void *ctx;
};

#endif /* SERVE_RECORDER_H */
