/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_folder - where a process's cgroup is in the file system, and the files there
 */
#ifndef HOST_CGROUP_FOLDER_H
#define HOST_CGROUP_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process's /proc/PID/cgroup, and our mountinfo; borrowed, not NULL. */
struct cgroup_texts {
	const char *cgroups, *mounts;
	size_t cgroups_len, mounts_len;
};

/* A cgroup's folder, and how much of that is the mount point: it ends at the hierarchy's top. */
struct cgroup_folder {
	char *path; /* owned by the caller; NULL: it cannot be seen from here */
	size_t top;
};

/*
 * In the hierarchy of @controller, of version 1 if it is in one; *@ret_version: 1, 2, or UNKNOWN:
 * the process is in none.
 */
struct cgroup_folder cgroup_folder_of(const struct cgroup_texts *t, const char *controller,
				      int64_t *ret_version);
/* To the cgroup above; false: it was at the top. */
bool cgroup_folder_ascend(struct cgroup_folder *f);
/* The first @cap bytes of the file @name in it; how many, or -errno. */
ssize_t cgroup_folder_text(const struct cgroup_folder *f, const char *name, char *buf, size_t cap);

#endif /* HOST_CGROUP_FOLDER_H */
