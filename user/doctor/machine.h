/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - checks of what a machine offers besides its exits: /proc, groups, energy, limits
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "doctor/checks.h"

void machine_ptrace(struct checks *c);
/* Whether exitmeter-probed answers. */
void machine_probed(struct checks *c);
void machine_proc(struct checks *c);
void machine_cgroup(struct checks *c);
void machine_energy(struct checks *c);
/* After "bpf" is there. */
void machine_memlock(struct checks *c);
void machine_tracefs(struct checks *c);

#endif /* MACHINE_H */
