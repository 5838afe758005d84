/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units - sizes, times and the texts people read
 *
 * -1 means "not known" in every integer and double below (SPEC 0.3).
 */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_S  1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

/*
 * Texts of SPEC 1.14 (U-110 to U-115).  Each writes a NUL-terminated string of at most @cap
 * bytes, like snprintf, and returns its full length.  Unknown (negative) writes "".
 */
int bytes_text(int64_t bytes, char *buf, size_t cap);
int cpu_text(double seconds, char *buf, size_t cap);
int usage_text(int64_t peak_rss_bytes, double cpu_seconds, double peak_cpus, char *buf, size_t cap);

/*
 * @text as a terminal may show it: control characters (C0, DEL, C1), bytes that are no UTF-8 and
 * direction marks become \xNN, the backslash becomes two.  Like snprintf; cut at a whole character.
 */
int plain_text(const char *text, size_t len, char *buf, size_t cap);

#endif /* UNITS_H */
