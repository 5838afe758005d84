/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_fields - a structure written by its table of fields
 */
#ifndef JSON_FIELDS_H
#define JSON_FIELDS_H

#include "journal/json.h"
#include "report/fields.h"

/* What stands at @at, as a value. */
void json_field_value(struct json *j, const void *at, enum field_kind kind);
/* As members of the open object. */
void json_fields(struct json *j, const void *base, const struct field_table *t);
/* The one of that name. */
void json_field_named(struct json *j, const void *base, const struct field_table *t,
		      const char *name);
/* As an object, a member named @key. */
void json_fields_object(struct json *j, const char *key, const void *base,
			const struct field_table *t);

/* RFC 3339 in UTC with milliseconds, @cap at least 32. */
void wall_clock_text(int64_t ns, char *buf, size_t cap);

#endif /* JSON_FIELDS_H */
