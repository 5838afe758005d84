// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/text.h"
#include "procfs/cgroup.h"
#include "procfs/mountinfo.h"
#include "procfs/reading.h"

struct texts_of_run {
	const char *cgroups, *mounts;
	size_t cgroups_len, mounts_len;
};

/* A cgroup's folder, and how much of that is the mount point: it ends at the hierarchy's top. */
struct folder {
	char *path;
	size_t top;
};

static struct folder folder_in(const struct mount *m, const char *path)
{
	struct folder f = { NULL, 0 };
	const char *below = mountinfo_below(path, m->root);
	char *point = below ? mountinfo_plain(m->point) : NULL;

	if (point && asprintf(&f.path, "%s%s", point, strcmp(below, "/") ? below : "") < 0)
		f.path = NULL;
	f.top = point ? strlen(point) : 0;
	free(point);
	return f;
}

/* Where the process is in the hierarchy of @controller, of version 1 if it is in one. */
static struct folder folder_of(const struct texts_of_run *t, const char *controller,
			       int64_t *ret_version)
{
	struct folder f = { NULL, 0 };
	struct mount m;
	char *path = cgroup_path(t->cgroups, t->cgroups_len, controller);
	bool found;

	*ret_version = path ? 1 : 2;
	if (!path)
		path = cgroup_path(t->cgroups, t->cgroups_len, "");
	if (!path) {
		*ret_version = UNKNOWN;
		return f;
	}
	if (*ret_version == 1)
		found = mountinfo_of_type(t->mounts, t->mounts_len, "cgroup", controller, &m);
	else
		found = mountinfo_of_type(t->mounts, t->mounts_len, "cgroup2", "", &m);
	if (found)
		f = folder_in(&m, path);
	free(path);
	return f;
}

/* To the cgroup above; false: it was at the top. */
static bool ascend(struct folder *f)
{
	char *slash = f->path ? strrchr(f->path, '/') : NULL;

	if (!slash || strlen(f->path) <= f->top || (size_t)(slash - f->path) < f->top)
		return false;
	*slash = '\0';
	return true;
}

static ssize_t limit_text(const struct folder *f, const char *name, char *buf, size_t cap)
{
	char *path;
	ssize_t n;

	if (!f->path || asprintf(&path, "%s/%s", f->path, name) < 0)
		return -1;
	n = text_read(path, buf, cap);
	free(path);
	return n;
}

static double cpu_of(const struct folder *f, int64_t version)
{
	char text[64], period[64];
	ssize_t len, period_len;

	if (version == 2) {
		len = limit_text(f, "cpu.max", text, sizeof(text));
		return len > 0 ? cgroup_cpu_max(text, (size_t)len) : UNKNOWN;
	}
	len = limit_text(f, "cpu.cfs_quota_us", text, sizeof(text));
	period_len = limit_text(f, "cpu.cfs_period_us", period, sizeof(period));
	if (len <= 0 || period_len <= 0)
		return UNKNOWN;
	return cgroup_cpu_quota(text, (size_t)len, period, (size_t)period_len);
}

static int64_t memory_of(const struct folder *f, int64_t version)
{
	const char *name = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	char text[64];
	ssize_t len = limit_text(f, name, text, sizeof(text));

	return len > 0 ? cgroup_memory_max(text, (size_t)len) : UNKNOWN;
}

static double cpu_limit(struct folder *f, int64_t version)
{
	double least = UNKNOWN;

	do {
		double one = cpu_of(f, version);

		if (one >= 0 && (least < 0 || one < least))
			least = one;
	} while (ascend(f));
	return least;
}

static int64_t memory_limit(struct folder *f, int64_t version)
{
	int64_t least = UNKNOWN;

	do {
		int64_t one = memory_of(f, version);

		if (one >= 0 && (least < 0 || one < least))
			least = one;
	} while (ascend(f));
	return least;
}

void cgroup_read(struct cgroup_facts *ret, const char *cgroups, size_t cgroups_len,
		 const char *mounts, size_t mounts_len)
{
	const struct texts_of_run t = { cgroups, mounts ? mounts : "", cgroups_len,
					mounts ? mounts_len : 0 };
	int64_t memory_version, cpu_version;
	struct folder memory = folder_of(&t, "memory", &memory_version);
	struct folder cpu = folder_of(&t, "cpu", &cpu_version);

	ret->version = memory_version == 1 || cpu_version == 1 ? 1 : memory_version;
	ret->memory_limit_bytes = memory_limit(&memory, memory_version);
	ret->cpu_limit = cpu_limit(&cpu, cpu_version);
	free(memory.path);
	free(cpu.path);
}
