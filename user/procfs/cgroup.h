/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - pure parsers of /proc/PID/cgroup and of the files that limit one
 */
#ifndef PROCFS_CGROUP_H
#define PROCFS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The path of the process in the hierarchy of @controller, or with "" in that of version 2; owned
 * by the caller.  NULL: there is none, or it lies outside of what the process may see.
 */
char *cgroup_path(const char *text, size_t len, const char *controller);

/* Whose containers have paths like these; NULL: nothing tells.  Not owned. */
const char *cgroup_container(const char *text, size_t len);

/*
 * Limits; -1 for none.  cpu.max of version 2, "50000 100000"; cpu.cfs_quota_us and cfs_period_us of
 * version 1; memory.max and memory.limit_in_bytes.
 */
double cgroup_cpu_max(const char *text, size_t len);
double cgroup_cpu_quota(const char *quota, size_t quota_len, const char *period, size_t period_len);
int64_t cgroup_memory_max(const char *text, size_t len);

/* What stands behind @key on its line, in memory.events or memory.oom_control; -1: it is not there.
 */
int64_t cgroup_count(const char *text, size_t len, const char *key);
/* Whether @word is one of the words of cgroup.controllers or cgroup.subtree_control. */
bool cgroup_has_word(const char *text, size_t len, const char *word);

#endif /* PROCFS_CGROUP_H */
