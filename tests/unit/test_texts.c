// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_texts - the texts of SPEC 1.14
 */
#include <locale.h>
#include <math.h>
#include <stdint.h>

#include "lib/exitmeter.h"
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
	struct em_usage usage;
	const char *want;
} usages[] = {
	{ "U-114 all", { 851443712, 41.2, 3.9 }, "peak 812 MB, CPU 41.2 s on up to 3.9 cores" },
	{ "U-114 nothing", { -1, -1, -1 }, "" },
	{ "U-115 peak only", { 851443712, -1, -1 }, "peak 812 MB" },
	{ "U-115 CPU only", { -1, 41.2, -1 }, "CPU 41.2 s" },
	{ "U-115 cores only", { -1, -1, 3.9 }, "up to 3.9 cores" },
	{ "U-115 no peak", { -1, 41.2, 3.9 }, "CPU 41.2 s on up to 3.9 cores" },
	{ "U-115 no cores", { 851443712, 41.2, -1 }, "peak 812 MB, CPU 41.2 s" },
	{ "U-115 no CPU", { 851443712, -1, 3.9 }, "peak 812 MB, up to 3.9 cores" },
	{ "U-115 zero cores", { -1, 1, 0 }, "CPU 1.0 s on up to 0.0 cores" },
	{ "U-115 cores not a number", { -1, 1, NAN }, "CPU 1.0 s" },
};

static void texts(const char *where)
{
	char buf[512];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		EQ_I(em_bytes_text(sizes[i].bytes, buf, sizeof(buf)), strlen(sizes[i].want),
		     "%s%s: length", where, sizes[i].label);
		EQ_S(buf, sizes[i].want, "%s%s: text", where, sizes[i].label);
	}
	for (size_t i = 0; i < COUNT(times); i++) {
		EQ_I(em_cpu_text(times[i].seconds, buf, sizeof(buf)), strlen(times[i].want),
		     "%s%s: length", where, times[i].label);
		EQ_S(buf, times[i].want, "%s%s: text", where, times[i].label);
	}
	for (size_t i = 0; i < COUNT(usages); i++) {
		EQ_I(em_usage_text(&usages[i].usage, buf, sizeof(buf)), strlen(usages[i].want),
		     "%s%s: length", where, usages[i].label);
		EQ_S(buf, usages[i].want, "%s%s: text", where, usages[i].label);
	}
}

static void short_buffers(void)
{
	char buf[8] = "xxxxxxx";

	EQ_I(em_bytes_text(851443712, NULL, 0), 6, "no buffer: full length");
	EQ_I(em_usage_text(&usages[0].usage, buf, 5), 42, "short buffer: full length");
	EQ_S(buf, "peak", "short buffer: cut and terminated");
	EQ_I(buf[5], 'x', "short buffer: nothing behind it");
	EQ_I(em_cpu_text(1e308, buf, sizeof(buf)), 309 - 4 + 4, "huge time: full length");
}

int main(void)
{
	texts("");
	short_buffers();
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		texts("U-104 in a locale with a comma: ");
	else
		SKIP("elsewhere: U-104 in a locale with a comma: de_DE.UTF-8 is not installed");
	return tap_done();
}
