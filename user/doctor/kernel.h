/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel - checks of what the BPF source takes: types, programs, hooks, tick, iterator
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "doctor/checks.h"

void kernel_checks(struct checks *c);

#endif /* KERNEL_H */
