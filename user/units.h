/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units - of time, and any text made safe to read
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S  1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

#define TIME_NONE INT64_MIN /* in ns: not known */

/* That clock now, in ns. */
int64_t clock_ns(clockid_t clock);

/*
 * Length of the UTF-8 character at @p (Unicode table 3-7: no overlong forms, no surrogates, nothing
 * above U+10FFFF), 0 for none; its code point in *@ret.
 */
size_t utf8_char(const unsigned char *p, size_t len, uint32_t *ret);
/* No control character (C0, DEL, C1), direction mark or other character that is not seen. */
bool char_harmless(uint32_t c);

/*
 * @text as a terminal may show it: control characters (C0, DEL, C1), bytes that are no UTF-8 and
 * direction marks become \xNN, the backslash becomes two.  Like snprintf; cut at a whole character.
 */
int plain_text(const char *text, size_t len, char *buf, size_t cap);
/* The same, but a backslash stays one: for forms that others' programs know. */
int harmless_text(const char *text, size_t len, char *buf, size_t cap);

#endif /* UNITS_H */
