// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "host/cgroup_folder.h"
#include "procfs/cgroup.h"
#include "procfs/reading.h"

static double cpu_of(const struct cgroup_folder *f, int64_t version)
{
	char text[64], period[64];
	ssize_t len, period_len;

	if (version == 2) {
		len = cgroup_folder_text(f, "cpu.max", text, sizeof(text));
		return len > 0 ? cgroup_cpu_max(text, (size_t)len) : UNKNOWN;
	}
	len = cgroup_folder_text(f, "cpu.cfs_quota_us", text, sizeof(text));
	period_len = cgroup_folder_text(f, "cpu.cfs_period_us", period, sizeof(period));
	if (len <= 0 || period_len <= 0)
		return UNKNOWN;
	return cgroup_cpu_quota(text, (size_t)len, period, (size_t)period_len);
}

static int64_t memory_of(const struct cgroup_folder *f, int64_t version)
{
	const char *name = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	char text[64];
	ssize_t len = cgroup_folder_text(f, name, text, sizeof(text));

	return len > 0 ? cgroup_memory_max(text, (size_t)len) : UNKNOWN;
}

static double cpu_limit(struct cgroup_folder *f, int64_t version)
{
	double least = UNKNOWN;

	do {
		double one = cpu_of(f, version);

		if (one >= 0 && (least < 0 || one < least))
			least = one;
	} while (cgroup_folder_ascend(f));
	return least;
}

static int64_t memory_limit(struct cgroup_folder *f, int64_t version)
{
	int64_t least = UNKNOWN;

	do {
		int64_t one = memory_of(f, version);

		if (one >= 0 && (least < 0 || one < least))
			least = one;
	} while (cgroup_folder_ascend(f));
	return least;
}

void cgroup_read(struct cgroup_facts *ret, const char *cgroups, size_t cgroups_len,
		 const char *mounts, size_t mounts_len)
{
	const struct cgroup_texts t = { cgroups, mounts ? mounts : "", cgroups_len,
					mounts ? mounts_len : 0 };
	int64_t memory_version, cpu_version;
	struct cgroup_folder memory = cgroup_folder_of(&t, "memory", &memory_version);
	struct cgroup_folder cpu = cgroup_folder_of(&t, "cpu", &cpu_version);

	ret->version = memory_version == 1 || cpu_version == 1 ? 1 : memory_version;
	ret->memory_limit_bytes = memory_limit(&memory, memory_version);
	ret->cpu_limit = cpu_limit(&cpu, cpu_version);
	free(memory.path);
	free(cpu.path);
}
