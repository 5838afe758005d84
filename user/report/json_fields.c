// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/exitmeter.h"
#include "model/process.h"
#include "units.h"

void wall_clock_text(int64_t ns, char *buf, size_t cap)
{
	int64_t below = ns % NS_PER_S < 0; /* before 1970 */
	time_t s = (time_t)(ns / NS_PER_S - below);
	struct tm tm;
	size_t len;

	gmtime_r(&s, &tm);
	len = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + len, cap - len, ".%03dZ",
		 (int)((ns % NS_PER_S + below * NS_PER_S) / NS_PER_MS));
}

static void int_or_null(struct json *j, int64_t v)
{
	if (v == UNKNOWN)
		json_null(j);
	else
		json_int(j, v);
}

static void id_or_null(struct json *j, int64_t v)
{
	char text[32];

	if (v == UNKNOWN)
		json_null(j);
	else
		json_raw(j, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)v));
}

static void flag_or_null(struct json *j, int8_t v)
{
	if (v == UNKNOWN)
		json_null(j);
	else
		json_bool(j, v);
}

void json_field_value(struct json *j, const void *at, enum field_kind kind)
{
	const int64_t *v = at;
	char text[40];

	switch (kind) {
	case FIELD_INT:
		int_or_null(j, *v);
		break;
	case FIELD_PID:
		int_or_null(j, *(const int32_t *)at);
		break;
	case FIELD_ID:
		id_or_null(j, *v);
		break;
	case FIELD_NS:
		*v == UNKNOWN ? json_null(j) : json_ns(j, *v);
		break;
	case FIELD_TIME:
		*v == TIME_NONE ? json_null(j) : json_ns(j, *v);
		break;
	case FIELD_FLAG:
		flag_or_null(j, *(const int8_t *)at);
		break;
	case FIELD_DOUBLE:
		*(const double *)at < 0 ? json_null(j) : json_double(j, *(const double *)at);
		break;
	case FIELD_SIGNED:
		json_double(j, *(const double *)at);
		break;
	case FIELD_STRING:
		json_cstring(j, *(char *const *)at);
		break;
	case FIELD_COMM:
		json_string(j, at, strnlen(at, EM_COMM_LEN));
		break;
	case FIELD_SOURCE:
		json_cstring(j, peak_source_name(*(const enum peak_source *)at));
		break;
	case FIELD_HOST:
		json_cstring(j, em_host_name((int)*(const enum em_host *)at));
		break;
	case FIELD_WALL_CLOCK:
		if (*v == UNKNOWN) {
			json_null(j);
		} else {
			wall_clock_text(*v, text, sizeof(text));
			json_cstring(j, text);
		}
		break;
	}
}

void json_fields(struct json *j, const void *base, const struct field_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		json_key(j, t->at[i].name);
		json_field_value(j, (const char *)base + t->at[i].offset, t->at[i].kind);
	}
}

void json_field_named(struct json *j, const void *base, const struct field_table *t,
		      const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i].name, name)) {
			json_key(j, name);
			json_field_value(j, (const char *)base + t->at[i].offset, t->at[i].kind);
		}
}

void json_fields_object(struct json *j, const char *key, const void *base,
			const struct field_table *t)
{
	json_key(j, key);
	json_open(j);
	json_fields(j, base, t);
	json_close(j);
}
