// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "query/fleet.h"
#include "query/suggest.h"
#include "tap.h"

#define MIB (1LL << 20)

static void test_suggest(void)
{
	struct past past[100];
	struct suggestion s = suggest(NULL, 0);

	EQ_I(s.memory_bytes, -1, "of nothing nothing is asked for");
	EQ_I(s.cpus, -1, "nor cores");
	for (int i = 0; i < 100; i++)
		past[i] = (struct past){ .peak_bytes = (100 - i) * MIB,
					 .cpus = (i + 1) / 10.0,
					 .wall_s = i,
					 .failed = i < 7 };
	s = suggest(past, 100);
	EQ_I(s.runs, 100, "runs");
	EQ_I(s.failed, 7, "failed ones count");
	EQ_I(s.median_bytes, 50 * MIB, "median, nearest rank");
	EQ_I(s.p95_bytes, 95 * MIB, "95th percentile, nearest rank");
	EQ_I(s.max_bytes, 100 * MIB, "largest");
	EQ_I(s.memory_bytes, 105 * MIB, "a tenth above the 95th, in whole MiB");
	EQ_I(s.cpus, 10, "9.5 cores less the slack, rounded up");
	EQ_D(s.p95_wall_s, 94, 0, "wall time");

	past[0].peak_bytes = 400 * MIB;
	s = suggest(past, 100);
	EQ_I(s.memory_bytes, 400 * MIB, "at least the largest");
	for (int i = 0; i < 100; i++)
		if (past[i].peak_bytes == 400 * MIB)
			past[i].for_memory = true;
	s = suggest(past, 100);
	EQ_I(s.killed_bytes, 400 * MIB, "the largest that was killed for memory");
	EQ_I(s.memory_bytes, 800 * MIB, "twice what was not enough");

	past[0] = (struct past){ .peak_bytes = -1, .cpus = -1, .wall_s = -1 };
	past[1] = (struct past){ .peak_bytes = 3 * MIB + 1, .cpus = 1.05, .wall_s = -1 };
	s = suggest(past, 2);
	EQ_I(s.n_peaks, 1, "what is not known does not count");
	EQ_I(s.memory_bytes, 4 * MIB, "the other's peak and a tenth");
	EQ_I(s.cpus, 1, "a twentieth of a core is none");
	EQ_D(s.max_wall_s, -1, 0, "no wall time is known");
}

static void test_fleet(void)
{
	char a[] = "a", b[] = "b";
	const struct fleet_part parts[] = {
		{ a, 100, 10, 50, 60, 2, 0, -1, 1.5, 1 },
		{ a, 105, 10, 40, 45, 3, 1, -1, 2.5, 1 },
		{ a, 200, 10, 70, 90, 1, -1, 9, 1, 0 },
		{ b, 999, -1, 10, -1, -1, 0, -1, -1, 1 },
	};
	struct fleet_host hosts[4];

	EQ_I(fleet_hosts(parts, 4, hosts, 4), 2, "two hosts");
	EQ_S(hosts[0].host, "a", "the first");
	EQ_I(hosts[0].parts, 3, "its journals");
	EQ_I(hosts[0].lower_bytes, 70, "at least the largest of them");
	EQ_I(hosts[0].upper_bytes, 105, "at most those that ran at once, not all of them");
	EQ_I(hosts[0].processes, 6, "processes add up");
	EQ_D(hosts[0].cpu_s, 5, 1e-9, "CPU adds up");
	EQ_D(hosts[0].wall_s, 110, 1e-9, "from the first start to the last end");
	EQ_I(hosts[0].failed, 2, "a code and a signal");
	EQ_I(hosts[0].exact, 0, "one was not exact");
	EQ_I(hosts[1].upper_bytes, -1, "unknown stays unknown");
	EQ_I(hosts[1].processes, -1, "processes too");
	EQ_D(hosts[1].cpu_s, -1, 0, "CPU too");
	EQ_D(hosts[1].wall_s, -1, 0, "wall time too");
	EQ_I(fleet_hosts(parts, 4, hosts, 1), 2, "more than there is room for are counted");
}

int main(void)
{
	test_suggest();
	test_fleet();
	return tap_done();
}
