/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power - pure parsers of what /sys tells of energy counters
 *
 * As in parse.h: 0 and *@ret, or -EBADMSG and *@ret untouched; text need not be NUL-terminated.
 */
#ifndef PROCFS_POWER_H
#define PROCFS_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event of a perf PMU that is one field, "event=0x02": its config. */
int power_event_parse(const char *text, size_t len, uint64_t *ret);
/* What one of its counts is in its unit, "2.3283064365386962890625e-10". */
int power_scale_parse(const char *text, size_t len, double *ret);
/* A list of processors, "0,18" or "0-3,8": the first @cap; *@ret_n how many. */
int power_cpus_parse(const char *text, size_t len, int *cpus, size_t cap, size_t *ret_n);
/* A name that is all of the text: letters, digits, - _ and dots, and a newline.  NULL: it is none.
 */
char *power_name_parse(const char *text, size_t len);

/* What a powercap zone's name says of it. */
struct power_zone {
	const char *covers; /* static */
	bool part;          /* of another zone, or it is not known what it is */
};
struct power_zone power_zone_of(const char *name, bool top);

#endif /* PROCFS_POWER_H */
