// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_budget.h"

#include <string.h>

#include "report/fields.h"
#include "report/json_fields.h"

static void write_value(struct json *j, const char *key, enum budget_item item, int64_t v)
{
	json_key(j, key);
	if (v == UNKNOWN)
		json_null(j);
	else if (budget_item_is_time(item))
		json_ns(j, v);
	else
		json_int(j, v);
}

static void write_excess(struct json *j, const struct budget_excess *e)
{
	json_open(j);
	json_key(j, "what");
	json_cstring(j, budget_item_field(e->item));
	write_value(j, "limit", e->item, e->limit);
	write_value(j, "value", e->item, e->value);
	json_fields(j, e, &budget_excess_fields);
	json_key(j, "comm");
	if (*e->comm)
		json_string(j, e->comm, strnlen(e->comm, sizeof(e->comm)));
	else
		json_null(j);
	json_close(j);
}

void json_budget(struct json *j, const struct budget_result *b)
{
	json_open(j);
	json_key(j, "on");
	json_cstring(j, !b->asked ? NULL : b->budget.upper ? "upper" : "lower");
	json_fields_object(j, "limits", &b->budget, &budget_fields);
	json_key(j, "exceeded");
	json_array(j);
	for (size_t i = 0; i < b->n_exceeded; i++)
		write_excess(j, &b->exceeded[i]);
	json_array_end(j);
	json_key(j, "unknown");
	json_array(j);
	for (int i = 0; i < BUDGET_ITEMS; i++)
		if (b->unknown[i])
			json_cstring(j, budget_item_field((enum budget_item)i));
	json_array_end(j);
	json_close(j);
}
