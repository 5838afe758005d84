/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_values - parsed JSON into rows and parts of a summary, by the tables it was written by
 *
 * Keys that are missing leave what is there (unknown), keys that are not known are passed over:
 * fields are only ever added.  Each function returns 0, -EBADMSG with the reason in @why, or
 * -ENOMEM; after an error what was filled is still to be freed.
 */
#ifndef JOURNAL_READ_VALUES_H
#define JOURNAL_READ_VALUES_H

/* json-c has a type of this name, our writer (json.h) a function. */
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_bool

#include "model/summary.h"
#include "report/fields.h"

#define VALUES_WHY_MAX 160

struct why {
	char text[VALUES_WHY_MAX];
};

int why_set(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Seconds to ns, exact to the digit; null is @unknown.  No reason is given. */
int value_ns(json_object *v, int64_t unknown, int64_t *ret);
/* A count: null is UNKNOWN. */
int value_int(json_object *o, const char *key, int64_t *ret, struct why *why);

/* *@ret: the value of @key if it is of @type, NULL if it is null or missing. */
int value_child(json_object *o, const char *key, enum json_type type, json_object **ret,
		struct why *why);
/* An object's fields; a missing one changes nothing. */
int value_fields(json_object *o, void *base, const struct field_table *t, struct why *why);
/* Those of the object at @key, if it is there. */
int value_object(json_object *o, const char *key, void *base, const struct field_table *t,
		 struct why *why);
/* A string without a NUL, borrowed; NULL: none. */
const char *value_text(json_object *v, size_t *ret_len);

/* *@ret: one reference of the caller's. */
int values_process(json_object *o, struct process **ret, struct why *why);
int values_run(json_object *o, struct run_facts *f, struct why *why);
int values_source(json_object *o, struct source_facts *f, struct why *why);
/* The journal's last line: all but rows and marks. */
int values_summary(json_object *o, struct summary *s, struct why *why);

/*
 * The line as json-c may take it: the writer's escapes of bytes that are no UTF-8 (\u00a0 to
 * \u00ff, json.h) become these bytes again.  In place; returns the new length.
 */
size_t values_unescape(char *line, size_t len);

#endif /* JOURNAL_READ_VALUES_H */
