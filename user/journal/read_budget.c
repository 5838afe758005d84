// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_budget.h"

#include <errno.h>
#include <string.h>

/* BUDGET_ITEMS: none of that name. */
static enum budget_item item_of(json_object *name)
{
	size_t len;
	const char *text = value_text(name, &len);
	int i = 0;

	while (i < BUDGET_ITEMS &&
	       (!text || strcmp(text, budget_item_field((enum budget_item)i)) != 0))
		i++;
	return (enum budget_item)i;
}

static int read_value(json_object *o, const char *key, enum budget_item item, int64_t *ret,
		      struct why *why)
{
	json_object *v;
	int err;

	if (!budget_item_is_time(item))
		return value_int(o, key, ret, why);
	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	err = value_ns(v, UNKNOWN, ret);
	return err == -EBADMSG ? why_set(why, "%s is not seconds or null", key) : err;
}

static int read_excess(json_object *o, struct budget_excess *e, struct why *why)
{
	json_object *what = NULL, *comm = NULL;
	const char *text;
	size_t len;
	int err;

	*e = (struct budget_excess){
		.limit = UNKNOWN, .value = UNKNOWN, .at_ns = TIME_NONE, .pid = UNKNOWN
	};
	json_object_object_get_ex(o, "what", &what);
	e->item = item_of(what);
	if (e->item == BUDGET_ITEMS)
		return why_set(why, "exceeded has what no budget has");
	err = read_value(o, "limit", e->item, &e->limit, why);
	if (!err)
		err = read_value(o, "value", e->item, &e->value, why);
	if (!err)
		err = value_fields(o, e, &budget_excess_fields, why);
	if (err || !json_object_object_get_ex(o, "comm", &comm) || !comm)
		return err;
	text = value_text(comm, &len);
	if (!text || !len || len > sizeof(e->comm))
		return why_set(why, "comm is not a name of at most 16 bytes");
	memcpy(e->comm, text, len);
	return 0;
}

static int read_list(json_object *o, const char *key, json_object **ret, size_t *ret_n,
		     struct why *why)
{
	int err = value_child(o, key, json_type_array, ret, why);

	*ret_n = !err && *ret ? json_object_array_length(*ret) : 0;
	return *ret_n > BUDGET_ITEMS ? why_set(why, "%s is too long", key) : err;
}

static int read_on(json_object *o, struct budget_result *b, struct why *why)
{
	json_object *on;
	const char *text;
	size_t len;

	if (!json_object_object_get_ex(o, "on", &on) || !on)
		return 0;
	text = value_text(on, &len);
	if (!text || (strcmp(text, "lower") != 0 && strcmp(text, "upper") != 0))
		return why_set(why, "on is not lower or upper");
	b->asked = true;
	b->budget.upper = !strcmp(text, "upper");
	return 0;
}

int values_budget(json_object *o, struct budget_result *b, struct why *why)
{
	json_object *budget, *exceeded = NULL, *unknown = NULL;
	size_t n = 0, n_unknown = 0;
	int err = value_child(o, "budget", json_type_object, &budget, why);

	if (err || !budget)
		return err;
	err = read_on(budget, b, why);
	if (!err)
		err = value_object(budget, "limits", &b->budget, &budget_fields, why);
	if (!err)
		err = read_list(budget, "exceeded", &exceeded, &n, why);
	for (size_t i = 0; !err && i < n; i++) {
		json_object *one = json_object_array_get_idx(exceeded, i);

		if (!json_object_is_type(one, json_type_object))
			return why_set(why, "exceeded holds what is no object");
		err = read_excess(one, &b->exceeded[b->n_exceeded++], why);
	}
	if (!err)
		err = read_list(budget, "unknown", &unknown, &n_unknown, why);
	for (size_t i = 0; !err && i < n_unknown; i++) {
		enum budget_item item = item_of(json_object_array_get_idx(unknown, i));

		if (item == BUDGET_ITEMS)
			return why_set(why, "unknown has what no budget has");
		b->unknown[item] = true;
	}
	return err;
}
