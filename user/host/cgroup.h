/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - what limits a process through its cgroup
 */
#ifndef HOST_CGROUP_H
#define HOST_CGROUP_H

#include <stddef.h>

#include "model/env.h"

/*
 * The strictest limits of its own cgroup and of those above it as far as they can be seen.
 * @cgroups: its /proc/PID/cgroup; @mounts: our mountinfo, or NULL.
 */
void cgroup_read(struct cgroup_facts *ret, const char *cgroups, size_t cgroups_len,
		 const char *mounts, size_t mounts_len);

#endif /* HOST_CGROUP_H */
