/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - one metered run from start to report
 */
#ifndef SESSION_H
#define SESSION_H

#include "config.h"

/* Runs config.command, meters it, writes the outputs.  Returns exitmeter's exit status. */
int session_run(const struct config *c);

#endif /* SESSION_H */
