// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * units - sizes, times and the texts people read
 */
#include "units.h"

#include <math.h>
#include <stdbool.h>
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

int bytes_text(int64_t bytes, char *buf, size_t cap)
{
	char text[TEXT_MAX] = "";
	double mib = (double)bytes / MIB;

	if (bytes >= 10 * (int64_t)GIB)
		number_text((double)bytes / GIB, 1, " GB", text);
	else if (bytes >= 0)
		number_text(mib, mib < 9.95 ? 1 : 0, " MB", text);
	return snprintf(buf, cap, "%s", text);
}

int cpu_text(double seconds, char *buf, size_t cap)
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

int usage_text(int64_t peak_rss_bytes, double cpu_seconds, double peak_cpus, char *buf, size_t cap)
{
	char peak[TEXT_MAX], cpu[TEXT_MAX], cores[TEXT_MAX] = "";
	bool has_peak = bytes_text(peak_rss_bytes, peak, sizeof(peak)) > 0;
	bool has_cpu = cpu_text(cpu_seconds, cpu, sizeof(cpu)) > 0;
	bool has_cores = isfinite(peak_cpus) && peak_cpus >= 0;

	if (has_cores)
		number_text(peak_cpus, 1, " cores", cores);
	return snprintf(buf, cap, "%s%s%s%s%s%s%s%s", has_peak ? "peak " : "", peak,
			has_peak && (has_cpu || has_cores) ? ", " : "", has_cpu ? "CPU " : "", cpu,
			has_cpu && has_cores ? " on " : "", has_cores ? "up to " : "", cores);
}

/* Length of the UTF-8 character at @p, 0 for none; its code point in *@ret. */
static size_t utf8(const unsigned char *p, size_t len, uint32_t *ret)
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

static int harmless(uint32_t c)
{
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x61c &&
	       !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

int plain_text(const char *text, size_t len, char *buf, size_t cap)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t out = 0, at = 0, full = 0;

	while (at < len) {
		uint32_t c = 0;
		size_t n = utf8(p + at, len - at, &c);
		char piece[4 * 4 + 1];
		size_t size = n;

		if (n && harmless(c) && c != '\\') {
			memcpy(piece, p + at, n);
		} else if (n && c == '\\') {
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
