/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_budget - what a run was allowed, and where it went beyond that, as JSON (INTERFACE 3)
 */
#ifndef JSON_BUDGET_H
#define JSON_BUDGET_H

#include "journal/json.h"
#include "model/budget.h"

/* One object. */
void json_budget(struct json *j, const struct budget_result *b);

#endif /* JSON_BUDGET_H */
