/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges - after the programs are loaded only what reading other processes needs is kept
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>

/*
 * Keeps CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL, and CAP_BPF and CAP_PERFMON, with which the
 * tick and second copies of programs are loaded while the command runs, and drops all others;
 * with @clean_up also what it takes to remove another user's folder (--user) or a cgroup that is
 * below one nobody may write (--cgroup): CAP_DAC_OVERRIDE and CAP_FOWNER.  @for_now: all can be
 * taken back, for another run.  0, or -errno when nothing was dropped.
 */
int privileges_drop(bool clean_up, bool for_now);
/* Those that were dropped for now.  0 or -errno. */
int privileges_take_back(void);

#endif /* PRIVILEGES_H */
