/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_budget - a run's budget and what it came to, from parsed JSON
 */
#ifndef JOURNAL_READ_BUDGET_H
#define JOURNAL_READ_BUDGET_H

#include "journal/read_values.h"

/* As those of read_values.h; at @o's budget, if it is there. */
int values_budget(json_object *o, struct budget_result *b, struct why *why);

#endif /* JOURNAL_READ_BUDGET_H */
