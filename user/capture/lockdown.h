/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockdown - whether the kernel keeps its memory to itself
 */
#ifndef LOCKDOWN_H
#define LOCKDOWN_H

#include <stdbool.h>

/*
 * With lockdown=confidentiality programs that read the kernel's memory are refused, root's too,
 * by -EINVAL (KERNEL: bpf_base_func_proto).  False as well where securityfs is not mounted.
 */
bool kernel_locked_down(void);

#endif /* LOCKDOWN_H */
