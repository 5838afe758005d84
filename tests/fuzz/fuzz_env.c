// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_env - any bytes to the parsers of mounts, cgroups and files about the machine
 *
 * The first line is the path that is looked for among the mounts.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/cgroup.h"
#include "procfs/mountinfo.h"
#include "procfs/power.h"
#include "procfs/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int err, int64_t v)
{
	if ((err && err != -EBADMSG) || (!err && v < 0) || (err && v != -7))
		abort();
}

static void feed_machine(const char *text, size_t len)
{
	char *(*const words[])(const char *, size_t) = { cpu_model_parse, choice_parse,
							 word_parse };
	double load[3] = { -7, -7, -7 };
	struct cpu_ticks ticks = { -7, -7 };
	int64_t bytes = -7, some = -7, full = -7;

	if (loadavg_parse(text, len, load) ? load[0] != -7 : !(load[0] >= 0 && load[2] >= 0))
		abort();
	check(cpu_ticks_parse(text, len, &ticks), ticks.busy);
	if ((ticks.busy < 0) != (ticks.steal < 0))
		abort();
	check(number_parse(text, len, &bytes), bytes);
	bytes = -7;
	check(memtotal_parse(text, len, &bytes), bytes);
	if (!pressure_parse(text, len, &some, &full) && (some < -1 || full < -1))
		abort();
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		free(words[i](text, len));
}

static void feed_cgroup(const char *text, size_t len)
{
	static const char *const controllers[] = { "", "cpu", "memory" };

	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		char *path = cgroup_path(text, len, controllers[i]);

		if (path && *path != '/')
			abort();
		free(path);
	}
	cgroup_container(text, len);
	if (cgroup_memory_max(text, len) < -1 || cgroup_cpu_max(text, len) < -1 ||
	    cgroup_cpu_quota(text, len, text, len) < -1 || cgroup_count(text, len, "oom_kill") < -1)
		abort();
	cgroup_has_word(text, len, "memory");
}

static void feed_power(const char *text, size_t len)
{
	uint64_t config;
	double scale = 1;
	int cpus[8];
	size_t n = 0;
	char *name = power_name_parse(text, len);

	power_event_parse(text, len, &config);
	if (!power_scale_parse(text, len, &scale) && !(scale > 0))
		abort();
	if (!power_cpus_parse(text, len, cpus, 8, &n) && (!n || n > 8 || cpus[0] < 0))
		abort();
	if (name)
		power_zone_of(name, len & 1);
	free(name);
}

static void feed_mounts(const char *path, const char *text, size_t len)
{
	struct mount m;

	if (mountinfo_find(text, len, path, &m)) {
		if (!mountinfo_below(path, m.point))
			abort();
		free(mountinfo_plain(m.type));
		free(mountinfo_plain(m.root));
	}
	mountinfo_of_type(text, len, "cgroup", "memory", &m);
	mountinfo_of_type(text, len, "cgroup2", "", &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *newline = memchr(text, '\n', size);
	char *path;

	feed_machine(text, size);
	feed_cgroup(text, size);
	feed_power(text, size);
	if (!newline)
		return 0;
	path = strndup(text, (size_t)(newline - text));
	if (path)
		feed_mounts(path, newline + 1, size - (size_t)(newline + 1 - text));
	free(path);
	return 0;
}
