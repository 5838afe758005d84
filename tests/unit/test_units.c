// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_units - the texts of SPEC 1.14
 */
#include "units.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>

#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *label;
	int64_t bytes;
	const char *want;
} sizes[] = {
	{ "0.3 unknown", -1, "" },
	{ "0.3 any negative", INT64_MIN, "" },
	{ "0.3 a measured zero", 0, "0.0 MB" },
	{ "U-111 one decimal", 950272, "0.9 MB" },
	{ "U-111 just below 9.95 MiB", 10433331, "9.9 MB" },
	{ "U-111 just above 9.95 MiB", 10433332, "10 MB" },
	{ "U-111 10 MiB", 10485760, "10 MB" },
	{ "U-111 812 MiB", 851443712, "812 MB" },
	{ "U-111 last below the switch", 10737418239, "10240 MB" },
	{ "U-111 the switch", 10737418240, "10.0 GB" },
	{ "U-110 GB", 13421772800, "12.5 GB" },
	{ "U-110 largest", INT64_MAX, "8589934592.0 GB" },
};

static const struct {
	const char *label;
	double seconds;
	const char *want;
} times[] = {
	{ "0.3 unknown", -1, "" },
	{ "0.3 not a number", NAN, "" },
	{ "0.3 infinite", INFINITY, "" },
	{ "0.3 a measured zero", 0, "0.00 s" },
	{ "U-113 two decimals", 0.031, "0.03 s" },
	{ "U-113 rounds within its form", 0.999, "1.00 s" },
	{ "U-113 from 1 s", 1, "1.0 s" },
	{ "U-113 one decimal", 41.2, "41.2 s" },
	{ "U-113 just below minutes", 119.96, "120.0 s" },
	{ "U-113 minutes", 120, "2.0 min" },
	{ "U-113 90 minutes", 5400, "90.0 min" },
	{ "U-113 just below hours", 7199.9, "120.0 min" },
	{ "U-113 hours", 7200, "2.0 h" },
	{ "U-112 many hours", 3.6e9, "1000000.0 h" },
};

static const struct {
	const char *label;
	int64_t peak;
	double cpu, cores;
	const char *want;
} usages[] = {
	{ "U-114 all", 851443712, 41.2, 3.9, "peak 812 MB, CPU 41.2 s on up to 3.9 cores" },
	{ "U-114 nothing", -1, -1, -1, "" },
	{ "U-115 peak only", 851443712, -1, -1, "peak 812 MB" },
	{ "U-115 CPU only", -1, 41.2, -1, "CPU 41.2 s" },
	{ "U-115 cores only", -1, -1, 3.9, "up to 3.9 cores" },
	{ "U-115 no peak", -1, 41.2, 3.9, "CPU 41.2 s on up to 3.9 cores" },
	{ "U-115 no cores", 851443712, 41.2, -1, "peak 812 MB, CPU 41.2 s" },
	{ "U-115 no CPU", 851443712, -1, 3.9, "peak 812 MB, up to 3.9 cores" },
	{ "U-115 zero cores", -1, 1, 0, "CPU 1.0 s on up to 0.0 cores" },
	{ "U-115 cores not a number", -1, 1, NAN, "CPU 1.0 s" },
};

static void texts(const char *where)
{
	char buf[512];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		EQ_I(bytes_text(sizes[i].bytes, buf, sizeof(buf)), strlen(sizes[i].want),
		     "%s%s: length", where, sizes[i].label);
		EQ_S(buf, sizes[i].want, "%s%s: text", where, sizes[i].label);
	}
	for (size_t i = 0; i < COUNT(times); i++) {
		EQ_I(cpu_text(times[i].seconds, buf, sizeof(buf)), strlen(times[i].want),
		     "%s%s: length", where, times[i].label);
		EQ_S(buf, times[i].want, "%s%s: text", where, times[i].label);
	}
	for (size_t i = 0; i < COUNT(usages); i++) {
		EQ_I(usage_text(usages[i].peak, usages[i].cpu, usages[i].cores, buf, sizeof(buf)),
		     strlen(usages[i].want), "%s%s: length", where, usages[i].label);
		EQ_S(buf, usages[i].want, "%s%s: text", where, usages[i].label);
	}
}

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

static void short_buffers(void)
{
	char buf[8] = "xxxxxxx";

	EQ_I(bytes_text(851443712, NULL, 0), 6, "no buffer: full length");
	EQ_I(usage_text(851443712, 41.2, 3.9, buf, 5), 42, "short buffer: full length");
	EQ_S(buf, "peak", "short buffer: cut and terminated");
	EQ_I(buf[5], 'x', "short buffer: nothing behind it");
	EQ_I(cpu_text(1e308, buf, sizeof(buf)), 309 - 4 + 4, "huge time: full length");
}

int main(void)
{
	texts("");
	short_buffers();
	plain_texts();
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		texts("U-104 in a locale with a comma: ");
	else
		SKIP("elsewhere: U-104 in a locale with a comma: de_DE.UTF-8 is not installed");
	return tap_done();
}
