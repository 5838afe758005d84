/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow - how exitmeter-probed is reached
 */
#ifndef BORROW_H
#define BORROW_H

#include <stddef.h>
#include <sys/types.h>

#define PROBED_SOCKET   "/run/exitmeter/probed"
#define PROBED_VARIABLE "EXITMETER_PROBED" /* another path; empty: none */

/*
 * A connection, to the socket or else to one that is started for us, where it has capabilities of
 * its own.  -ENOENT: there is none of both; or another -errno, and one clause in @why.
 */
int borrow_connect(char *why, size_t cap);

/*
 * A descriptor that only who may look at the process (PTRACE_MODE_READ) gets from the kernel, or
 * -errno.
 */
int borrow_proof(pid_t pid);

#endif /* BORROW_H */
