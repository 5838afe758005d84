/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refusal - what makes the kernel refuse a system call to this process, and what would allow it
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <stdbool.h>

/*
 * For EPERM or EACCES from bpf().  Static texts: the likely cause is
 * returned, NULL where none is to be seen; *@ret_remedy what would allow it, or NULL.
 */
const char *refusal_of_bpf(const char **ret_remedy);
/* The same from ptrace(). */
const char *refusal_of_ptrace(const char **ret_remedy);

/* Of /proc/sys/kernel/yama/ptrace_scope; -1 without yama. */
int yama_scope(void);
/* Whether it may read what belongs to other users' processes. */
bool may_read_others(void);

#endif /* REFUSAL_H */
