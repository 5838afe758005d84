/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters - what only ever grows: CPU, switches, faults, I/O; ns, counts, bytes
 *
 * UNKNOWN is unknown, and what is made of it is.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "procfs/reading.h"

struct counters {
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns;
	int64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
	struct io_counts io;
};

struct counters counters_unknown(void);
struct counters counters_sum(const struct counters *a, const struct counters *b);
/*
 * @later less @earlier, never below 0.  CPU as cpu_ns has it, user and system in the ratio of
 * their own growth, all of it user where neither grew (SPEC U-31).
 */
struct counters counters_since(const struct counters *later, const struct counters *earlier);

#endif /* COUNTERS_H */
