// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json - the one JSON writer: into a growing buffer, commas and escapes by itself
 */
#include "journal/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "units.h"

#define FIRST_CAP 256

void json_init(struct json *j)
{
	*j = (struct json){ 0 };
}

void json_reset(struct json *j)
{
	j->len = 0;
	j->comma = false;
	j->err = 0;
}

void json_free(struct json *j)
{
	if (!j)
		return;
	free(j->buf);
	json_init(j);
}

static bool reserve(struct json *j, size_t more)
{
	size_t cap = j->cap ? j->cap : FIRST_CAP;
	char *buf;

	if (j->err)
		return false;
	if (more <= j->cap - j->len)
		return true;
	if (more > PTRDIFF_MAX - j->len) {
		j->err = -ENOMEM;
		return false;
	}
	while (cap < j->len + more)
		cap *= 2; /* at most twice PTRDIFF_MAX: does not wrap */
	buf = realloc(j->buf, cap);
	if (!buf) {
		j->err = -ENOMEM;
		return false;
	}
	j->buf = buf;
	j->cap = cap;
	return true;
}

static void put(struct json *j, const char *text, size_t len)
{
	if (!len || !reserve(j, len))
		return;
	memcpy(j->buf + j->len, text, len);
	j->len += len;
}

const char *json_text(struct json *j)
{
	if (!reserve(j, 1))
		return "";
	j->buf[j->len] = '\0';
	return j->buf;
}

static void separate(struct json *j)
{
	if (j->comma)
		put(j, ",", 1);
	j->comma = false;
}

void json_raw(struct json *j, const char *text, size_t len)
{
	separate(j);
	put(j, text, len);
	j->comma = true;
}

void json_open(struct json *j)
{
	separate(j);
	put(j, "{", 1);
}

void json_close(struct json *j)
{
	put(j, "}", 1);
	j->comma = true;
}

void json_array(struct json *j)
{
	separate(j);
	put(j, "[", 1);
}

void json_array_end(struct json *j)
{
	put(j, "]", 1);
	j->comma = true;
}

struct json *json_key(struct json *j, const char *key)
{
	separate(j);
	put(j, "\"", 1);
	put(j, key, strlen(key));
	put(j, "\":", 2);
	return j;
}

static void put_escape(struct json *j, uint32_t c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *p = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
	char text[16];
	int n;

	if (p)
		n = snprintf(text, sizeof(text), "\\%c", letters[p - plain]);
	else
		n = snprintf(text, sizeof(text), "\\u%04x", c);
	put(j, text, (size_t)n);
}

void json_string(struct json *j, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t kept = 0, i = 0;

	separate(j);
	put(j, "\"", 1);
	while (i < len) {
		uint32_t c = p[i];
		size_t n = utf8_char(p + i, len - i, &c);

		/* What a terminal would take for its own or not show, too: a journal may be shown.
		 */
		if (n && char_harmless(c) && c != '"' && c != '\\') {
			i += n;
			continue;
		}
		put(j, text + kept, i - kept);
		put_escape(j, c);
		i += n ? n : 1;
		kept = i;
	}
	if (len)
		put(j, text + kept, len - kept);
	put(j, "\"", 1);
	j->comma = true;
}

void json_cstring(struct json *j, const char *text)
{
	if (text)
		json_string(j, text, strlen(text));
	else
		json_null(j);
}

void json_int(struct json *j, int64_t v)
{
	char text[32];

	json_raw(j, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, v));
}

void json_double(struct json *j, double v)
{
	char text[EM_NUMBER_MAX];

	if (isfinite(v))
		json_raw(j, text, em_double_text(v, text));
	else
		json_null(j);
}

void json_ns(struct json *j, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char text[40];
	int n;

	n = snprintf(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
		     size / (uint64_t)NS_PER_S, size % (uint64_t)NS_PER_S);
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	json_raw(j, text, (size_t)n);
}

void json_count(struct json *j, int64_t v)
{
	if (v < 0)
		json_null(j);
	else
		json_int(j, v);
}

void json_duration(struct json *j, int64_t ns)
{
	if (ns < 0)
		json_null(j);
	else
		json_ns(j, ns);
}

void json_time(struct json *j, int64_t ns)
{
	if (ns == TIME_NONE)
		json_null(j);
	else
		json_ns(j, ns);
}

void json_figure(struct json *j, double v)
{
	json_double(j, v < 0 ? (double)NAN : v);
}

void json_bool(struct json *j, bool v)
{
	json_raw(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j)
{
	json_raw(j, "null", 4);
}

void json_colon(struct json *j)
{
	put(j, ":", 1);
	j->comma = false;
}

void json_newline(struct json *j)
{
	put(j, "\n", 1);
	j->comma = false;
}
