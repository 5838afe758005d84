/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - one metered run from start to report
 */
#ifndef SESSION_H
#define SESSION_H

#include "config.h"

struct identity;

/*
 * Runs config.command, as @as where it is not NULL, meters it, writes the outputs.  Returns
 * exitmeter's exit status.
 */
int session_run(const struct config *c, const struct identity *as);

#endif /* SESSION_H */
