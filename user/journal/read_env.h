/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_env - the machine a run ran on, and the sizes of its folders, from parsed JSON
 */
#ifndef JOURNAL_READ_ENV_H
#define JOURNAL_READ_ENV_H

#include "journal/read_values.h"

/* As those of read_values.h. */
int values_env(json_object *o, struct env *e, struct why *why);
int values_disks(json_object *o, struct summary *s, struct why *why);

#endif /* JOURNAL_READ_ENV_H */
