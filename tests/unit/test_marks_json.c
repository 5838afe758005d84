// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_marks_json - SPEC 1.13 (U-100 to U-104) and 1.15 (U-120, U-121)
 */
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/exitmeter.h"
#include "random.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The marks of 1.10 as they are written there. */
static const char text_1_10[] =
	"[[6,-1,0,-1],[5,104857600,0.9,0.9],[4,314572800,2.8,1.9],[3,262144000,4.6,1.8],"
	"[2,838860800,8.5,3.9],[1,125829120,8.7,0.2],[0.5,-1,9,-1]]";

static const struct {
	const char *label, *text;
	int want;
} readings[] = {
	{ "1.10", text_1_10, 7 },
	{ "U-103 none", "[]", 0 },
	{ "U-103 spaces", " [ [ 1 , 2 , 3 , 4 ] ,\n[ 0 ,\t-1 , 3 , -1 ] ]\r\n", 2 },
	{ "U-62 an age below 0", "[[0,-1,0,-1],[-0.25,-1,0,-1]]", 2 },
	{ "U-103 equal ages", "[[1,-1,0,-1],[1,5,0,-1]]", 2 },
	{ "exponents", "[[1e3,5,2.5E-1,1e+0]]", 1 },
	{ "U-103 three numbers", "[[1,2,3]]", EM_EROW },
	{ "U-103 five numbers", "[[1,2,3,4,5]]", EM_EROW },
	{ "U-103 none in a row", "[[]]", EM_EROW },
	{ "U-103 rss is no integer", "[[1,2.5,3,4]]", EM_EROW },
	{ "U-103 rss below none", "[[1,-2,3,4]]", EM_EROW },
	{ "U-103 rss past 2^63", "[[1,9223372036854775808,3,4]]", EM_EROW },
	{ "U-102 null is no number", "[[1,null,3,4]]", EM_EROW },
	{ "U-102 NaN", "[[NaN,1,3,4]]", EM_EROW },
	{ "U-102 infinity", "[[1e999,1,3,4]]", EM_EROW },
	{ "a string", "[[\"1\",1,3,4]]", EM_EROW },
	{ "a leading zero", "[[01,1,3,4]]", EM_EROW },
	{ "a lone minus", "[[-,1,3,4]]", EM_EROW },
	{ "no digits after the point", "[[1.,1,3,4]]", EM_EROW },
	{ "no digits in the exponent", "[[1e,1,3,4]]", EM_EROW },
	{ "U-104 a decimal comma", "[[1,5,1,3,4]]", EM_EROW },
	{ "U-103 ages rise", "[[1,2,3,4],[1.5,2,3,4]]", EM_EORDER },
	{ "empty", "", EM_ESYNTAX },
	{ "an object", "{}", EM_ESYNTAX },
	{ "no rows", "[1,2,3,4]", EM_ESYNTAX },
	{ "cut off", "[[1,2,3,4]", EM_ESYNTAX },
	{ "cut off in a row", "[[1,2,3", EM_EROW },
	{ "a comma too many", "[[1,2,3,4],]", EM_ESYNTAX },
	{ "something behind it", "[] x", EM_ESYNTAX },
};

static void reading(void)
{
	struct em_mark out[EM_MARKS_PARSE_MAX];

	for (size_t i = 0; i < COUNT(readings); i++) {
		EQ_I(em_marks_parse(readings[i].text, strlen(readings[i].text), out, COUNT(out)),
		     readings[i].want, "%s", readings[i].label);
		/* The bytes are not ended by a NUL. */
		EQ_I(em_marks_parse(readings[i].text, 0, out, COUNT(out)), EM_ESYNTAX,
		     "%s: none of its bytes", readings[i].label);
	}
	EQ_I(em_marks_parse(text_1_10, strlen(text_1_10), out, 6), EM_EROOM, "no room");
	for (int err = -7; err <= 0; err++)
		OK(*em_error_text(err), "an error in words: %d, %s", err, em_error_text(err));
}

/* @rows marks; the caller's. */
static char *many(size_t rows)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		exit(99);
	for (size_t i = 0; i < rows; i++)
		fputs(i ? ",[0,-1,0,-1]" : "[[0,-1,0,-1]", f);
	fputs("]", f);
	fclose(f);
	return text;
}

static void too_many(void)
{
	static struct em_mark out[2 * EM_MARKS_PARSE_MAX];

	for (int more = 0; more < 2; more++) {
		char *text = many(EM_MARKS_PARSE_MAX + (size_t)more);

		EQ_I(em_marks_parse(text, strlen(text), out, COUNT(out)),
		     more ? EM_EROWS : EM_MARKS_PARSE_MAX, "U-103 the most rows, and %d more",
		     more);
		free(text);
	}
}

static void writing(void)
{
	static const struct em_mark odd[] = { { .1, 5, NAN, INFINITY },
					      { 5e-324, INT64_MIN, 1.7976931348623157e308, 0 } };
	struct em_mark marks[8];
	char buf[512];
	int n;

	n = em_marks_parse(text_1_10, strlen(text_1_10), marks, COUNT(marks));
	EQ_I(n, 7, "1.10 is read");
	EQ_I(em_marks_json(marks, 7, buf, sizeof(buf)), strlen(text_1_10), "1.10: length");
	EQ_S(buf, text_1_10, "U-100 1.10: the same text");
	EQ_I(em_marks_json(marks, 7, buf, 10), strlen(text_1_10), "short buffer: full length");
	EQ_S(buf, "[[6,-1,0,", "short buffer: cut and ended");
	EQ_I(em_marks_json(marks, 7, NULL, 0), strlen(text_1_10), "no buffer: full length");
	em_marks_json(marks, 0, buf, sizeof(buf));
	EQ_S(buf, "[]", "no marks");
	em_marks_json(odd, 2, buf, sizeof(buf));
	EQ_S(buf, "[[0.1,5,-1,-1],[5e-324,-1,1.7976931348623157e+308,0]]",
	     "U-102 what is no number is none");
}

static double any_double(void)
{
	uint64_t bits = random_next();
	double v;

	if (random_below(2))
		return random_fraction() * 1e5;
	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? v : random_fraction();
}

static int by_age(const void *a, const void *b)
{
	const struct em_mark *x = a, *y = b;

	return x->at < y->at ? 1 : x->at > y->at ? -1 : 0;
}

/* 0 and -0 are two. */
static bool same(double a, double b)
{
	return a == b && signbit(a) == signbit(b);
}

static const char *trip(void)
{
	static struct em_mark marks[EM_MARKS_PARSE_MAX], back[EM_MARKS_PARSE_MAX];
	static char buf[EM_MARKS_PARSE_MAX * 110];
	size_t n = random_below(random_below(10) ? 20 : EM_MARKS_PARSE_MAX + 1);
	int len;

	for (size_t i = 0; i < n; i++)
		marks[i] = (struct em_mark){ any_double(), (int64_t)(random_next() >> 1),
					     any_double(), any_double() };
	qsort(marks, n, sizeof(marks[0]), by_age);
	len = em_marks_json(marks, n, buf, sizeof(buf));
	if (len < 2 || (size_t)len >= sizeof(buf))
		return "too long";
	if (em_marks_parse(buf, (size_t)len, back, COUNT(back)) != (int)n)
		return "refused";
	for (size_t i = 0; i < n; i++)
		if (!same(marks[i].at, back[i].at) || marks[i].rss != back[i].rss ||
		    !same(marks[i].cpu, back[i].cpu) || !same(marks[i].cpus, back[i].cpus))
			return "not the same";
	return NULL;
}

static void round_trips(const char *where)
{
	const char *why = NULL;

	for (int i = 0; i < 500 && !why; i++)
		why = trip();
	EQ_S(why, NULL, "%sU-100, U-104 500 random round trips", where);
}

static const struct {
	const char *label, *text;
	int err;
	struct em_usage want;
} usages[] = {
	{ "U-120 all",
	  "{\"peak_rss_bytes\":851443712,\"cpu_seconds\":41.2,\"peak_cpus\":3.9}",
	  0,
	  { 851443712, 41.2, 3.9 } },
	{ "U-120 nothing",
	  "{\"peak_rss_bytes\":null,\"cpu_seconds\":null,\"peak_cpus\":null}",
	  0,
	  { -1, -1, -1 } },
	{ "U-120 a measured zero",
	  "{\"peak_rss_bytes\":0,\"cpu_seconds\":0,\"peak_cpus\":0}",
	  0,
	  { 0, 0, 0 } },
	{ "U-120 2^63 - 1",
	  "{\"peak_rss_bytes\":9223372036854775807,\"cpu_seconds\":0.1,\"peak_cpus\":null}",
	  0,
	  { INT64_MAX, .1, -1 } },
	{ "U-121 missing", "{}", 0, { -1, -1, -1 } },
	{ "U-121 one there", " { \"cpu_seconds\" : 1e1 } ", 0, { -1, 10, -1 } },
	{ "others are passed over",
	  "{\"x\":{\"peak_cpus\":[1,\"\\\"}\",true,false,null]},\"y\":\"z\",\"peak_cpus\":2}",
	  0,
	  { -1, -1, 2 } },
	{ "below 0", "{\"cpu_seconds\":-1}", EM_EVALUE, { 7, 7, 7 } },
	{ "a string", "{\"peak_rss_bytes\":\"1\"}", EM_EVALUE, { 7, 7, 7 } },
	{ "no integer", "{\"peak_rss_bytes\":1.5}", EM_EVALUE, { 7, 7, 7 } },
	{ "no object", "[]", EM_ESYNTAX, { 7, 7, 7 } },
	{ "cut off", "{\"cpu_seconds\":1", EM_ESYNTAX, { 7, 7, 7 } },
	{ "a comma too many", "{\"cpu_seconds\":1,}", EM_ESYNTAX, { 7, 7, 7 } },
	{ "cut off in a string", "{\"x\":\"\\", EM_ESYNTAX, { 7, 7, 7 } },
	{ "something behind it", "{} {}", EM_ESYNTAX, { 7, 7, 7 } },
};

static void usage(const char *where)
{
	char buf[256];

	for (size_t i = 0; i < COUNT(usages); i++) {
		const struct em_usage *want = &usages[i].want;
		struct em_usage got = { 7, 7, 7 };

		EQ_I(em_usage_parse(usages[i].text, strlen(usages[i].text), &got), usages[i].err,
		     "%s%s: result", where, usages[i].label);
		OK(got.peak_rss_bytes == want->peak_rss_bytes &&
			   got.cpu_seconds == want->cpu_seconds && got.peak_cpus == want->peak_cpus,
		   "%s%s: values", where, usages[i].label);
		if (strncmp(usages[i].label, "U-120", 5) != 0)
			continue;
		EQ_I(em_usage_json(want, buf, sizeof(buf)), strlen(usages[i].text), "%s%s: length",
		     where, usages[i].label);
		EQ_S(buf, usages[i].text, "%s%s: written", where, usages[i].label);
	}
}

static void too_deep(void)
{
	char text[1024] = "{\"x\":";
	struct em_usage got;

	memset(text + strlen(text), '[', 1000);
	EQ_I(em_usage_parse(text, strlen(text), &got), EM_ESYNTAX, "1000 brackets: refused");
}

int main(void)
{
	reading();
	too_many();
	writing();
	round_trips("");
	usage("");
	too_deep();
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		round_trips("U-104 in a locale with a comma: ");
		usage("U-104 in a locale with a comma: ");
	} else {
		SKIP("elsewhere: U-104 in a locale with a comma: de_DE.UTF-8 is not installed");
	}
	return tap_done();
}
