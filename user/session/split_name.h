/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_name - what a run of a split tree is called: after a variable, its cgroup or its program
 */
#ifndef SPLIT_NAME_H
#define SPLIT_NAME_H

#include <sys/types.h>

/* A variable of a living process; the caller's; NULL: not there, or not to be had. */
char *split_variable(pid_t pid, const char *name);
/* @comm: NULL not known.  The caller's; NULL: not to be had. */
char *split_name(const char *key, pid_t pid, const char *comm);

#endif /* SPLIT_NAME_H */
