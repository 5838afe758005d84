/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json - the one JSON writer: into a growing buffer, commas and escapes by itself
 *
 * Strings are arbitrary bytes: control characters, direction marks and others that are not seen,
 * quote and backslash are escaped, bytes that
 * are not UTF-8 become \u00XX of their Latin-1 value, so that the output is always valid UTF-8
 * JSON.  Doubles are printed in the shortest form that reads back to the same double; NaN and
 * infinity become null.  Locale independent.  Out of memory is sticky: @err becomes -ENOMEM,
 * later calls do nothing.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *buf; /* owned; not NUL-terminated unless json_text() was called */
	size_t len, cap;
	bool comma; /* the next element needs one before it */
	int err;
};

void json_init(struct json *j);
void json_reset(struct json *j); /* empties, keeps the memory */
void json_free(struct json *j);
const char *json_text(struct json *j); /* NUL-terminated view, "" after an error */

void json_open(struct json *j); /* { as a value */
void json_close(struct json *j);
void json_array(struct json *j); /* [ as a value */
void json_array_end(struct json *j);
/* Gives @j back, for the value.  @key is trusted: plain ASCII. */
struct json *json_key(struct json *j, const char *key);

void json_string(struct json *j, const char *text, size_t len);
/* After a string: it was a key, of any bytes. */
void json_colon(struct json *j);
void json_cstring(struct json *j, const char *text); /* NULL: null */
void json_int(struct json *j, int64_t v);
void json_double(struct json *j, double v);
/* Nanoseconds as decimal seconds, exact, without trailing zeros: 1500000000 is 1.5. */
void json_ns(struct json *j, int64_t ns);
/* Of what is known, else null: a count from 0 on, a duration, a time, a figure from 0 on. */
void json_count(struct json *j, int64_t v);
void json_duration(struct json *j, int64_t ns);
void json_time(struct json *j, int64_t ns); /* TIME_NONE: unknown */
void json_figure(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* Copies ready JSON text as one value. */
void json_raw(struct json *j, const char *text, size_t len);
/* Bytes outside any value: the newline after a journal line. */
void json_newline(struct json *j);

#endif /* JSON_H */
