// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number longer than that has more digits than any double needs. */
#define DIGITS_MAX 400

/* Adds one to the last digit before the exponent; no carry past the point. */
static void digits_bump(char *text)
{
	char *p = text + strcspn(text, "e");

	while (p-- > text && *p >= '0' && *p <= '9') {
		if (*p != '9') {
			++*p;
			return;
		}
		*p = '0';
	}
}

/* The shortest text that reads back to @v, still with the locale's decimal point. */
static void shortest(double v, char *text, size_t size)
{
	/* 15 digits always survive (DBL_DIG), but in subnormals, where fewer may do. */
	int digits = fpclassify(v) == FP_SUBNORMAL ? 1 : 15;

	for (; digits < 17; digits++) {
		snprintf(text, size, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			return;
	}
	/*
	 * Below a power of two doubles are denser: 16 digits rounded up may do where the nearest
	 * do not.  Only with exponents that %g prints with an e as well.
	 */
	snprintf(text, size, "%.15e", v);
	digits_bump(text);
	if (strtod(text, NULL) == v)
		return;
	snprintf(text, size, "%.17g", v);
}

size_t em_double_text(double v, char text[EM_NUMBER_MAX])
{
	char local[EM_NUMBER_MAX];
	char *out = text;

	shortest(v, local, sizeof(local));
	for (const char *p = local; *p;) {
		if (strchr("0123456789+-e", *p)) {
			*out++ = *p++;
			continue;
		}
		*out++ = '.';
		p += strcspn(p, "0123456789");
	}
	*out = '\0';
	return (size_t)(out - text);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && is_digit(text[n]))
		n++;
	return n;
}

size_t em_number_len(const char *text, size_t len, bool *ret_int)
{
	size_t at = len && text[0] == '-', n = digits_len(text + at, len - at);

	*ret_int = true;
	if (!n || (n > 1 && text[at] == '0'))
		return 0;
	at += n;
	if (at < len && text[at] == '.') {
		n = digits_len(text + at + 1, len - at - 1);
		if (!n)
			return 0;
		at += 1 + n;
		*ret_int = false;
	}
	if (at < len && (text[at] == 'e' || text[at] == 'E')) {
		size_t sign = at + 1 < len && (text[at + 1] == '+' || text[at + 1] == '-');

		n = digits_len(text + at + 1 + sign, len - at - 1 - sign);
		if (!n)
			return 0;
		at += 1 + sign + n;
		*ret_int = false;
	}
	return at;
}

bool em_number_double(const char *text, size_t len, double *ret)
{
	const char *point = localeconv()->decimal_point;
	size_t point_len = strlen(point), at = 0;
	char local[DIGITS_MAX + 16];
	double v;

	if (len > DIGITS_MAX || point_len > 15)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.') {
			memcpy(local + at, point, point_len);
			at += point_len;
		} else {
			local[at++] = text[i];
		}
	}
	local[at] = '\0';
	v = strtod(local, NULL);
	if (!isfinite(v))
		return false;
	*ret = v;
	return true;
}

bool em_number_int(const char *text, size_t len, int64_t *ret)
{
	char digits[24];
	long long v;

	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	errno = 0;
	v = strtoll(digits, NULL, 10);
	if (errno)
		return false;
	*ret = v;
	return true;
}
