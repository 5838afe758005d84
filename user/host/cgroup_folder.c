// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/text.h"
#include "procfs/cgroup.h"
#include "procfs/mountinfo.h"
#include "procfs/reading.h"

static struct cgroup_folder folder_in(const struct mount *m, const char *path)
{
	struct cgroup_folder f = { NULL, 0 };
	const char *below = mountinfo_below(path, m->root);
	char *point = below ? mountinfo_plain(m->point) : NULL;

	if (point && asprintf(&f.path, "%s%s", point, strcmp(below, "/") ? below : "") < 0)
		f.path = NULL;
	f.top = point ? strlen(point) : 0;
	free(point);
	return f;
}

struct cgroup_folder cgroup_folder_of(const struct cgroup_texts *t, const char *controller,
				      int64_t *ret_version)
{
	struct cgroup_folder f = { NULL, 0 };
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

bool cgroup_folder_ascend(struct cgroup_folder *f)
{
	char *slash = f->path ? strrchr(f->path, '/') : NULL;

	if (!slash || strlen(f->path) <= f->top || (size_t)(slash - f->path) < f->top)
		return false;
	*slash = '\0';
	return true;
}

ssize_t cgroup_folder_text(const struct cgroup_folder *f, const char *name, char *buf, size_t cap)
{
	char *path;
	ssize_t n;

	if (!f->path || asprintf(&path, "%s/%s", f->path, name) < 0)
		return -ENOENT;
	n = text_read(path, buf, cap);
	free(path);
	return n;
}
