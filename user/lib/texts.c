// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * texts - sizes, times and usages as people read them (SPEC 1.14)
 */
#include "lib/exitmeter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB 1048576.0
#define GIB 1073741824.0

/* Room for the longest double printed with %f, its unit and the words around it. */
#define TEXT_MAX 400

/* "%.@decimals f@unit", with a point in every locale. */
static void number_text(double v, int decimals, const char *unit, char buf[TEXT_MAX])
{
	char local[TEXT_MAX];
	char *out = buf;

	snprintf(local, sizeof(local), "%.*f", decimals, v);
	for (const char *p = local; *p;) {
		if (*p >= '0' && *p <= '9') {
			*out++ = *p++;
			continue;
		}
		*out++ = '.';
		p += strcspn(p, "0123456789");
	}
	snprintf(out, TEXT_MAX - (size_t)(out - buf), "%s", unit);
}

int em_bytes_text(int64_t bytes, char *buf, size_t cap)
{
	char text[TEXT_MAX] = "";
	double mib = (double)bytes / MIB;

	if (bytes >= 10 * (int64_t)GIB)
		number_text((double)bytes / GIB, 1, " GB", text);
	else if (bytes >= 0)
		number_text(mib, mib < 9.95 ? 1 : 0, " MB", text);
	return snprintf(buf, cap, "%s", text);
}

int em_cpu_text(double seconds, char *buf, size_t cap)
{
	char text[TEXT_MAX] = "";

	if (!isfinite(seconds) || seconds < 0)
		;
	else if (seconds < 1)
		number_text(seconds, 2, " s", text);
	else if (seconds < 120)
		number_text(seconds, 1, " s", text);
	else if (seconds < 7200)
		number_text(seconds / 60, 1, " min", text);
	else
		number_text(seconds / 3600, 1, " h", text);
	return snprintf(buf, cap, "%s", text);
}

int em_usage_text(const struct em_usage *u, char *buf, size_t cap)
{
	char peak[TEXT_MAX], cpu[TEXT_MAX], cores[TEXT_MAX] = "";
	bool has_peak = em_bytes_text(u->peak_rss_bytes, peak, sizeof(peak)) > 0;
	bool has_cpu = em_cpu_text(u->cpu_seconds, cpu, sizeof(cpu)) > 0;
	bool has_cores = isfinite(u->peak_cpus) && u->peak_cpus >= 0;

	if (has_cores)
		number_text(u->peak_cpus, 1, " cores", cores);
	return snprintf(buf, cap, "%s%s%s%s%s%s%s%s", has_peak ? "peak " : "", peak,
			has_peak && (has_cpu || has_cores) ? ", " : "", has_cpu ? "CPU " : "", cpu,
			has_cpu && has_cores ? " on " : "", has_cores ? "up to " : "", cores);
}
