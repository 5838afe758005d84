/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu - what the processors are, and who sets their frequency
 */
#ifndef HOST_CPU_H
#define HOST_CPU_H

/* Owned by the caller; NULL: not known. */
char *cpu_model(void);
/* The governor of all, or where they differ "powersave 6, performance 2"; NULL: there is none. */
char *cpu_governor(void);

#endif /* HOST_CPU_H */
