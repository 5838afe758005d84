// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cursor.h"

#include <string.h>

#include "lib/number.h"

#define DEPTH_MAX 64 /* of values that are passed over */

static void skip_space(struct em_cursor *c)
{
	while (c->at < c->end &&
	       (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
		c->at++;
}

/* Takes @what if it is next, spaces before it aside. */
bool em_take(struct em_cursor *c, char what)
{
	skip_space(c);
	if (c->at == c->end || *c->at != what)
		return false;
	c->at++;
	return true;
}

bool em_take_word(struct em_cursor *c, const char *word)
{
	size_t len = strlen(word);

	skip_space(c);
	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

bool em_at_end(struct em_cursor *c)
{
	skip_space(c);
	return c->at == c->end;
}

/* A number: its text in *@ret, its length in *@ret_len. */
static bool take_number(struct em_cursor *c, const char **ret, size_t *ret_len, bool *ret_int)
{
	skip_space(c);
	*ret = c->at;
	*ret_len = em_number_len(c->at, (size_t)(c->end - c->at), ret_int);
	c->at += *ret_len;
	return *ret_len > 0;
}

bool em_take_double(struct em_cursor *c, double *ret)
{
	const char *text;
	size_t len;
	bool integer;

	return take_number(c, &text, &len, &integer) && em_number_double(text, len, ret);
}

bool em_take_int(struct em_cursor *c, int64_t *ret)
{
	const char *text;
	size_t len;
	bool integer;

	return take_number(c, &text, &len, &integer) && integer && em_number_int(text, len, ret);
}

/* A string, its text without the quotes; escapes stay: none of our keys has any. */
bool em_take_string(struct em_cursor *c, const char **ret, size_t *ret_len)
{
	if (!em_take(c, '"'))
		return false;
	*ret = c->at;
	for (; c->at < c->end && *c->at != '"'; c->at++) {
		if ((unsigned char)*c->at < 0x20)
			return false;
		if (*c->at == '\\' && ++c->at == c->end)
			return false;
	}
	if (c->at == c->end)
		return false;
	*ret_len = (size_t)(c->at++ - *ret);
	return true;
}

static bool skip_value(struct em_cursor *c, int depth);

/* The bracket is taken; @close ends it. */
static bool skip_members(struct em_cursor *c, char close, int depth)
{
	const char *key;
	size_t len;

	if (em_take(c, close))
		return true;
	do {
		if (close == '}' && (!em_take_string(c, &key, &len) || !em_take(c, ':')))
			return false;
		if (!skip_value(c, depth))
			return false;
	} while (em_take(c, ','));
	return em_take(c, close);
}

static bool skip_value(struct em_cursor *c, int depth)
{
	const char *text;
	size_t len;
	bool integer;

	if (depth == DEPTH_MAX)
		return false;
	if (em_take(c, '{'))
		return skip_members(c, '}', depth + 1);
	if (em_take(c, '['))
		return skip_members(c, ']', depth + 1);
	return em_take_string(c, &text, &len) || em_take_word(c, "null") ||
	       em_take_word(c, "true") || em_take_word(c, "false") ||
	       take_number(c, &text, &len, &integer);
}

bool em_skip_value(struct em_cursor *c)
{
	return skip_value(c, 0);
}

/* --- strings ------------------------------------------------------------------------------- */

static bool hex4(const char *text, const char *end, uint32_t *ret)
{
	uint32_t v = 0;

	if (end - text < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		char c = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] + 32) : text[i];
		const char *at = c ? strchr(digits, c) : NULL;

		if (!at)
			return false;
		v = v * 16 + (uint32_t)(at - digits);
	}
	*ret = v;
	return true;
}

static size_t utf8(uint32_t v, char out[4])
{
	if (v < 0x80) {
		out[0] = (char)v;
		return 1;
	}
	if (v < 0x800) {
		out[0] = (char)(0xc0 | v >> 6);
		out[1] = (char)(0x80 | (v & 0x3f));
		return 2;
	}
	if (v < 0x10000) {
		out[0] = (char)(0xe0 | v >> 12);
		out[1] = (char)(0x80 | (v >> 6 & 0x3f));
		out[2] = (char)(0x80 | (v & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | v >> 18);
	out[1] = (char)(0x80 | (v >> 12 & 0x3f));
	out[2] = (char)(0x80 | (v >> 6 & 0x3f));
	out[3] = (char)(0x80 | (v & 0x3f));
	return 4;
}

/* After "\\u": one character, of two escapes where they are a pair.  NULL: none. */
static const char *take_code(const char *at, const char *end, uint32_t *ret)
{
	uint32_t high, low;

	if (!hex4(at, end, &high))
		return NULL;
	at += 4;
	*ret = high;
	if (high < 0xd800 || high > 0xdfff)
		return at;
	*ret = 0xfffd;
	if (high > 0xdbff || end - at < 6 || at[0] != '\\' || at[1] != 'u' ||
	    !hex4(at + 2, end, &low) || low < 0xdc00 || low > 0xdfff)
		return at;
	*ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return at + 6;
}

size_t em_unescape(const char *text, size_t len, char *buf, size_t cap)
{
	static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	const char *at = text, *end = text + len;
	size_t n = 0;

	while (at < end) {
		char one[4] = { *at };
		size_t size = 1;
		const char *letter;
		uint32_t code;

		if (*at++ == '\\') {
			if (at == end)
				return cap + 1;
			letter = *at ? strchr(letters, *at) : NULL;
			if (letter) {
				one[0] = plain[letter - letters];
				at++;
			} else if (*at == 'u') {
				at = take_code(at + 1, end, &code);
				if (!at)
					return cap + 1;
				size = utf8(code, one);
			} else {
				return cap + 1;
			}
		}
		if (size > cap - n)
			return cap + 1;
		memcpy(buf + n, one, size);
		n += size;
	}
	return n;
}
