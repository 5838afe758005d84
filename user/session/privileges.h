/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges - after the programs are loaded only what reading other processes needs is kept
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

/*
 * Keeps CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL and CAP_BPF (kernels before 5.18 want it for
 * every bpf(), reading included) and drops all others.  0, or -errno when nothing was dropped.
 */
int privileges_drop(void);

#endif /* PRIVILEGES_H */
