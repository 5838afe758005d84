/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet - one run of many journals, on one host or many
 *
 * Pure.  Clocks of different hosts are not compared: what is added up over hosts is what needs no
 * moment (CPU, processes), memory is told a host at a time.  On one host the peaks of those that
 * ran at the same moment add up to what can have been at most; the largest of them was at least.
 */
#ifndef QUERY_FLEET_H
#define QUERY_FLEET_H

#include <stddef.h>
#include <stdint.h>

/* A journal's row.  -1 not known. */
struct fleet_part {
	char *host; /* owned; "?" where it is not known */
	double started_s, wall_s;
	int64_t lower_bytes, upper_bytes, processes, exit_code, exit_signal;
	double cpu_s;
	int8_t exact;
};

struct fleet_host {
	const char *host; /* of a part */
	size_t parts, failed;
	int64_t lower_bytes, upper_bytes, processes;
	double cpu_s;
	double wall_s; /* from the first start to the last end */
	int8_t exact;  /* all of them */
};

/*
 * @parts sorted by host and start.  Returns how many hosts there are, of which the first @cap are
 * written to @hosts.
 */
size_t fleet_hosts(const struct fleet_part *parts, size_t n, struct fleet_host *hosts, size_t cap);

#endif /* QUERY_FLEET_H */
