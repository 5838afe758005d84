// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_json - the JSON writer: escapes, numbers that read back, commas
 */
#include "journal/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tap.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define BYTES(lit) (lit), sizeof(lit) - 1

/* Lets the out-of-memory case return under AddressSanitizer, too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static struct json j;

static const struct {
	const char *label, *text;
	size_t len;
	const char *want;
} strings[] = {
	{ "empty", BYTES(""), "\"\"" },
	{ "no bytes at all", NULL, 0, "\"\"" },
	{ "plain", BYTES("a b/c"), "\"a b/c\"" },
	{ "quote", BYTES("a\"b"), "\"a\\\"b\"" },
	{ "backslash", BYTES("a\\b"), "\"a\\\\b\"" },
	{ "newline", BYTES("a\nb"), "\"a\\nb\"" },
	{ "tab, return, backspace, feed", BYTES("\t\r\b\f"), "\"\\t\\r\\b\\f\"" },
	{ "NUL inside", BYTES("a\0b"), "\"a\\u0000b\"" },
	{ "escape sequence", BYTES("\x1b[31m"), "\"\\u001b[31m\"" },
	{ "lowest and highest control", BYTES("\x01\x1f "), "\"\\u0001\\u001f \"" },
	{ "DEL", BYTES("~\x7f"), "\"~\\u007f\"" },
	{ "0xff",
	  BYTES("a\xff"
		"b"),
	  "\"a\\u00ffb\"" },
	{ "two bytes", BYTES("\xc3\xa9"), "\"\xc3\xa9\"" },
	{ "three bytes", BYTES("\xe2\x82\xac"), "\"\xe2\x82\xac\"" },
	{ "four bytes", BYTES("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"" },
	{ "first of two bytes", BYTES("\xc2\xa0"), "\"\xc2\xa0\"" },
	{ "C1 control, as UTF-8", BYTES("\xc2\x9b"), "\"\\u009b\"" },
	{ "first of three bytes", BYTES("\xe0\xa0\x80"), "\"\xe0\xa0\x80\"" },
	{ "before the surrogates", BYTES("\xed\x9f\xbf"), "\"\xed\x9f\xbf\"" },
	{ "behind the surrogates", BYTES("\xee\x80\x80"), "\"\xee\x80\x80\"" },
	{ "U+FFFF", BYTES("\xef\xbf\xbf"), "\"\xef\xbf\xbf\"" },
	{ "first of four bytes", BYTES("\xf0\x90\x80\x80"), "\"\xf0\x90\x80\x80\"" },
	{ "U+10FFFF", BYTES("\xf4\x8f\xbf\xbf"), "\"\xf4\x8f\xbf\xbf\"" },
	{ "above U+10FFFF", BYTES("\xf4\x90\x80\x80"), "\"\\u00f4\\u0090\\u0080\\u0080\"" },
	{ "lead byte 0xf5", BYTES("\xf5\x80\x80\x80"), "\"\\u00f5\\u0080\\u0080\\u0080\"" },
	{ "overlong of two", BYTES("\xc0\xaf\xc1\xbf"), "\"\\u00c0\\u00af\\u00c1\\u00bf\"" },
	{ "overlong of three", BYTES("\xe0\x9f\xbf"), "\"\\u00e0\\u009f\\u00bf\"" },
	{ "overlong of four", BYTES("\xf0\x8f\xbf\xbf"), "\"\\u00f0\\u008f\\u00bf\\u00bf\"" },
	{ "first surrogate", BYTES("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"" },
	{ "last surrogate", BYTES("\xed\xbf\xbf"), "\"\\u00ed\\u00bf\\u00bf\"" },
	{ "continuation alone", BYTES("\x80z"), "\"\\u0080z\"" },
	{ "cut off at the end", BYTES("z\xe2\x82"), "\"z\\u00e2\\u0082\"" },
	{ "cut off by a quote", BYTES("\xe2\x82\"\xf0\x9f\x98\""),
	  "\"\\u00e2\\u0082\\\"\\u00f0\\u009f\\u0098\\\"\"" },
	{ "direction marks, the letter stays",
	  BYTES("\xe2\x80\x8f\xe2\x80\xae\xd7\x90\xe2\x80\xac"),
	  "\"\\u200f\\u202e\xd7\x90\\u202c\"" },
	/* NOLINTNEXTLINE(misc-misleading-bidirectional): that is the case */
	{ "other marks that are not seen", BYTES("\xd8\x9c\xe2\x80\xa8\xef\xbb\xbf\xe2\x81\xa6"),
	  "\"\\u061c\\u2028\\ufeff\\u2066\"" },
	{ "kept, escaped, kept", BYTES("\xc3\xa9\n\xc3\xa9"), "\"\xc3\xa9\\n\xc3\xa9\"" },
};

static const struct {
	const char *label;
	int64_t v;
	const char *want;
} ints[] = {
	{ "zero", 0, "0" },
	{ "none", -1, "-1" },
	{ "largest", INT64_MAX, "9223372036854775807" },
	{ "smallest", INT64_MIN, "-9223372036854775808" },
};

static const struct {
	const char *label;
	int64_t ns;
	const char *want;
} times[] = {
	{ "zero", 0, "0" },
	{ "1 ns", 1, "0.000000001" },
	{ "-1 ns", -1, "-0.000000001" },
	{ "10 ns", 10, "0.00000001" },
	{ "just below a second", 999999999, "0.999999999" },
	{ "a second", 1000000000, "1" },
	{ "ten seconds keep their zero", 10000000000, "10" },
	{ "1.5 s", 1500000000, "1.5" },
	{ "-1.5 s", -1500000000, "-1.5" },
	{ "zeros inside", 1000000100, "1.0000001" },
	{ "more digits than a double has", 123456789123456789, "123456789.123456789" },
	{ "largest", INT64_MAX, "9223372036.854775807" },
	{ "smallest", INT64_MIN, "-9223372036.854775808" },
};

static const struct {
	const char *label;
	double v;
	const char *want;
} doubles[] = {
	{ "zero", 0, "0" },
	{ "negative zero", -0.0, "-0" },
	{ "none", -1, "-1" },
	{ "whole", 9, "9" },
	{ "U-102 tenth", .1, "0.1" },
	{ "U-102 16 digits", 3.9000000000000004, "3.9000000000000004" },
	{ "U-102 a third", 1. / 3, "0.3333333333333333" },
	{ "U-102 17 digits", 5e-324 + 0x1.0000000000001p0, "1.0000000000000002" },
	{ "U-102 0.1 + 0.2", 0.1 + 0.2, "0.30000000000000004" },
	{ "large", 1e23, "1e+23" },
	{ "small", 1e-7, "1e-07" },
	{ "2^53", 9007199254740992, "9007199254740992" },
	{ "largest", 0x1.fffffffffffffp1023, "1.7976931348623157e+308" },
	{ "smallest normal", 0x1p-1022, "2.2250738585072014e-308" },
	{ "smallest", 0x1p-1074, "5e-324" },
	{ "16 digits, rounded up only: 2^-44", 0x1p-44, "5.684341886080802e-14" },
	{ "negative, rounded up only", -0x1p-44, "-5.684341886080802e-14" },
	{ "behind a zero, rounded up only: 2^-778", 0x1p-778, "6.290184345309701e-235" },
	{ "not a number", NAN, "null" },
	{ "infinity", INFINITY, "null" },
	{ "negative infinity", -INFINITY, "null" },
};

static void values(void)
{
	for (size_t i = 0; i < COUNT(strings); i++) {
		char *exact = malloc(strings[i].len + !strings[i].len);

		if (!exact)
			exit(99);
		if (strings[i].len)
			memcpy(exact, strings[i].text, strings[i].len); /* overreads show in ASan */
		json_reset(&j);
		json_string(&j, strings[i].text ? exact : NULL, strings[i].len);
		EQ_S(json_text(&j), strings[i].want, "string: %s", strings[i].label);
		free(exact);
	}
	for (size_t i = 0; i < COUNT(ints); i++) {
		json_reset(&j);
		json_int(&j, ints[i].v);
		EQ_S(json_text(&j), ints[i].want, "int: %s", ints[i].label);
	}
	for (size_t i = 0; i < COUNT(times); i++) {
		json_reset(&j);
		json_ns(&j, times[i].ns);
		EQ_S(json_text(&j), times[i].want, "ns: %s", times[i].label);
	}
}

static void double_texts(const char *where)
{
	for (size_t i = 0; i < COUNT(doubles); i++) {
		json_reset(&j);
		json_double(&j, doubles[i].v);
		EQ_S(json_text(&j), doubles[i].want, "%sdouble: %s", where, doubles[i].label);
	}
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Reads back to the same bits, and no rounding to fewer digits does. */
static bool round_trips(double v)
{
	size_t digits = 0;
	char shorter[64];

	json_reset(&j);
	json_double(&j, v);
	if (bits_of(strtod(json_text(&j), NULL)) != bits_of(v))
		return false;
	for (const char *p = json_text(&j); *p && *p != 'e'; p++)
		digits += *p >= '0' && *p <= '9' && (digits || *p != '0');
	if (digits < 2 || !strchr(json_text(&j), '.'))
		return true;
	snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, v);
	return strtod(shorter, NULL) != v;
}

static void random_doubles(void)
{
	uint64_t x = 88172645463325252, failed = 0;
	int bad = 0;

	for (int i = 0; i < 100000 && !bad; i++) {
		uint64_t bits;
		double v;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bits = i % 8 ? x : x & 0x800fffffffffffff; /* some subnormals */
		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v) && !round_trips(v)) {
			failed = bits;
			bad++;
		}
	}
	EQ_I(bad, 0, "U-102 random bit patterns read back, shortest (failed: %#llx)",
	     (unsigned long long)failed);
	bad = 0;
	for (int e = -1074; e < 1024; e++)
		bad += !round_trips(ldexp(1, e)) + !round_trips(-ldexp(1, e));
	EQ_I(bad, 0, "U-102 powers of two read back, shortest");
}

static void structure(void)
{
	json_reset(&j);
	json_open(&j);
	json_key(&j, "a");
	json_int(&j, 1);
	json_key(&j, "b");
	json_array(&j);
	json_array(&j);
	json_array_end(&j);
	json_open(&j);
	json_close(&j);
	json_bool(&j, true);
	json_bool(&j, false);
	json_null(&j);
	json_cstring(&j, NULL);
	json_cstring(&j, "x");
	json_double(&j, .5);
	json_ns(&j, 1500000000);
	json_raw(&j, "[7]", 3);
	json_array_end(&j);
	json_key(&j, "c");
	json_open(&j);
	json_key(&j, "d");
	json_string(&j, "y", 1);
	json_close(&j);
	json_close(&j);
	json_newline(&j);
	json_open(&j);
	json_close(&j);
	json_newline(&j);
	EQ_S(json_text(&j),
	     "{\"a\":1,\"b\":[[],{},true,false,null,null,\"x\",0.5,1.5,[7]],\"c\":{\"d\":\"y\"}}\n"
	     "{}\n",
	     "commas, nesting, two lines");
	EQ_I(j.len, strlen(json_text(&j)), "the terminator is not counted");
}

static void memory(void)
{
	char *big = malloc(100000);
	size_t cap;

	if (!big)
		exit(99);
	memset(big, 'x', 100000);
	json_reset(&j);
	json_string(&j, big, 100000);
	EQ_I(j.len, 100002, "grows");
	cap = j.cap;
	json_reset(&j);
	EQ_S(json_text(&j), "", "reset empties");
	OK(j.cap == cap, "reset keeps the memory");
	free(big);

	json_int(&j, 1);
	json_raw(&j, "", SIZE_MAX);
	EQ_I(j.err, -ENOMEM, "more than a size can hold");
	json_reset(&j);
	json_raw(&j, "", PTRDIFF_MAX);
	EQ_I(j.err, -ENOMEM, "more than memory can hold");
	json_int(&j, 2);
	json_newline(&j);
	EQ_I(j.err, -ENOMEM, "the error is sticky");
	EQ_S(json_text(&j), "", "no text after an error");
	json_reset(&j);
	json_int(&j, 3);
	EQ_S(json_text(&j), "3", "reset clears the error");

	json_free(&j);
	OK(!j.buf && !j.len && !j.cap, "free leaves it empty");
	json_free(&j);
	json_free(NULL);
	EQ_S(json_text(&j), "", "text of nothing");
}

int main(void)
{
	json_init(&j);
	values();
	double_texts("");
	random_doubles();
	structure();
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		double_texts("U-104 in a locale with a comma: ");
	else
		SKIP("elsewhere: U-104 in a locale with a comma: de_DE.UTF-8 is not installed");
	memory();
	json_free(&j);
	return tap_done();
}
