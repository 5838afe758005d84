/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_files - a cgroup's files read and written, and cgroups that are removed
 */
#ifndef HOST_CGROUP_FILES_H
#define HOST_CGROUP_FILES_H

#include <stddef.h>
#include <sys/types.h>

/* How the names of those begin that exitmeter makes. */
#define CGROUP_OWN "exitmeter-run-"

/* 0 or -errno. */
int cgroup_put(const char *folder, const char *name, const char *text);
int cgroup_put_pid(const char *folder, pid_t pid);
/* All of a file, NUL-terminated; owned by the caller, NULL: not to be had. */
char *cgroup_get(const char *folder, const char *name, size_t *ret_len);
/* Calls @take for each process in it; how many there were. */
size_t cgroup_pids(const char *folder, void (*take)(void *ctx, pid_t pid), void *ctx);

/* Moves all that are in it to @home and removes it; it stays where that cannot be done. */
void cgroup_remove(const char *path, char *home);
/* Removes those below that an exitmeter left which was killed, if nobody is in them any more. */
void cgroup_sweep(const char *parent);

#endif /* HOST_CGROUP_FILES_H */
