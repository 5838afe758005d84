// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/record.h"

const struct exit_record exit_record_unknown = {
	.ended_ns = UNKNOWN,
	.wait_status = UNKNOWN,
	.oom_killed = UNKNOWN,
	.peak_rss_bytes = UNKNOWN,
	.peak_since_bytes = UNKNOWN,
	.peak_error_bytes = UNKNOWN,
	.final_peak_bytes = UNKNOWN,
	.inherited_rss_bytes = UNKNOWN,
	.peak_vm_bytes = UNKNOWN,
	.split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
	.cpu_ns = UNKNOWN,
	.cpu_user_ns = UNKNOWN,
	.cpu_system_ns = UNKNOWN,
	.threads = UNKNOWN,
	.execs = UNKNOWN,
	.minor_faults = UNKNOWN,
	.major_faults = UNKNOWN,
	.voluntary_switches = UNKNOWN,
	.involuntary_switches = UNKNOWN,
	.io = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
};

void cpu_split(int64_t cpu_ns, int64_t user, int64_t system, int64_t *ret_user, int64_t *ret_system)
{
	if (cpu_ns < 0)
		return;
	*ret_system =
		user + system > 0 ? (int64_t)((__int128)cpu_ns * system / (user + system)) : 0;
	*ret_user = cpu_ns - *ret_system;
}
