// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_units - any text made safe to read
 */
#include "units.h"

#include <stdint.h>

#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *label, *text, *want;
} plains[] = {
	{ "empty", "", "" },
	{ "as it is", "a b~", "a b~" },
	{ "other scripts", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "newline and tab", "a\nb\t", "a\\x0ab\\x09" },
	{ "ESC", "\x1b[2J", "\\x1b[2J" },
	{ "DEL", "\x7f", "\\x7f" },
	{ "C1",
	  "\xc2\x9b"
	  "2J",
	  "\\xc2\\x9b2J" },
	{ "the first after C1", "\xc2\xa0", "\xc2\xa0" },
	/* Written as escapes: nothing in the source misleads. */
	/* NOLINTBEGIN(misc-misleading-bidirectional) */
	{ "bidi override", "\xe2\x80\xae", "\\xe2\\x80\\xae" },
	{ "bidi isolate", "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
	/* NOLINTEND(misc-misleading-bidirectional) */
	{ "Arabic letter mark", "\xd8\x9c", "\\xd8\\x9c" },
	{ "byte order mark", "\xef\xbb\xbf", "\\xef\\xbb\\xbf" },
	{ "a lone continuation", "\x80z", "\\x80z" },
	{ "overlong", "\xc0\xaf", "\\xc0\\xaf" },
	{ "overlong of three", "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
	{ "a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80" },
	{ "beyond Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
	{ "cut off at the end", "a\xe2\x82", "a\\xe2\\x82" },
	{ "cut off before a letter", "\xe2\x82z", "\\xe2\\x82z" },
	{ "backslash", "a\\x1b", "a\\\\x1b" },
};

static void plain_texts(void)
{
	char buf[64] = "xxxxxxxx";

	for (size_t i = 0; i < COUNT(plains); i++) {
		EQ_I(plain_text(plains[i].text, strlen(plains[i].text), buf, sizeof(buf)),
		     strlen(plains[i].want), "plain, %s: length", plains[i].label);
		EQ_S(buf, plains[i].want, "plain, %s: text", plains[i].label);
	}
	EQ_I(plain_text("\0a", 2, buf, sizeof(buf)), 5, "plain, NUL inside: length");
	EQ_S(buf, "\\x00a", "plain, NUL inside: text");
	EQ_I(plain_text("ab\xe2\x82\xac"
			"c",
			6, buf, 5),
	     6, "plain, cut: full length");
	EQ_S(buf, "ab", "plain, cut before the character that does not fit");
	EQ_I(plain_text("a\x1b"
			"b",
			3, buf, 5),
	     6, "plain, cut escape: full length");
	EQ_S(buf, "a", "plain, no part of an escape, nothing behind it");
	EQ_I(plain_text("a\\", 2, buf, 3), 3, "plain, cut backslash: full length");
	EQ_S(buf, "a", "plain, no half of a backslash");
	EQ_I(plain_text("ab", 2, NULL, 0), 2, "plain, no buffer: full length");
}

int main(void)
{
	plain_texts();
	return tap_done();
}
