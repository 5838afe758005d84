// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * units - of time, and any text made safe to read
 */
#include "units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

size_t utf8_char(const unsigned char *p, size_t len, uint32_t *ret)
{
	size_t n = p[0] < 0x80   ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;
	uint32_t v = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && (v < 0x800 || (v >= 0xd800 && v < 0xe000))) ||
	    (n == 4 && (v < 0x10000 || v > 0x10ffff)))
		return 0;
	*ret = v;
	return n;
}

bool char_harmless(uint32_t c)
{
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x61c &&
	       !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

static int escape(const char *text, size_t len, bool backslash, char *buf, size_t cap)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t out = 0, at = 0, full = 0;

	while (at < len) {
		uint32_t c = 0;
		size_t n = utf8_char(p + at, len - at, &c);
		char piece[4 * 4 + 1];
		size_t size = n;

		if (n && char_harmless(c) && !(backslash && c == '\\')) {
			memcpy(piece, p + at, n);
		} else if (n && c == '\\' && backslash) {
			piece[0] = piece[1] = '\\';
			size = 2;
		} else {
			n = n ? n : 1;
			size = 0;
			for (size_t i = 0; i < n; i++)
				size += (size_t)snprintf(piece + size, sizeof(piece) - size,
							 "\\x%02x", p[at + i]);
		}
		if (out == full && full + size < cap) {
			memcpy(buf + out, piece, size);
			out += size;
		}
		full += size;
		at += n;
	}
	if (cap)
		buf[out] = '\0';
	return (int)full;
}

int plain_text(const char *text, size_t len, char *buf, size_t cap)
{
	return escape(text, len, true, buf, cap);
}

int harmless_text(const char *text, size_t len, char *buf, size_t cap)
{
	return escape(text, len, false, buf, cap);
}
