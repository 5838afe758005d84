/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - what is known of a run before it starts: identity, labels, the command and its file
 */
#ifndef FACTS_H
#define FACTS_H

#include "config.h"
#include "model/summary.h"

/* Fills @ret, owned by the caller (facts_free).  0 or -ENOMEM. */
int facts_of_command(const struct config *c, struct run_facts *ret);
/* Those of the first process to attach to. */
int facts_of_target(const struct config *c, struct run_facts *ret);

#endif /* FACTS_H */
