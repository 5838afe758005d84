// SPDX-License-Identifier: GPL-2.0-only
/*
 * exitmeter_old - the same programs for kernels before 5.19: see NO_FETCH in compat.bpf.h
 *
 * Such a kernel refuses what it does not know even where it is never reached, so that this is an
 * object of its own.  No sum of the tree is kept, since that takes a lock: user space adds up what
 * /proc says.
 */
#define NO_FETCH 1
#include "exitmeter.bpf.c"
