/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor - what works on this machine, what does not, and what would allow it
 */
#ifndef DOCTOR_H
#define DOCTOR_H

/*
 * "exitmeter doctor": @argv[0] is the subcommand, NULL at the end.  Returns the exit status: 0 when
 * every end of a process would be seen exactly, 1 when not, 125 for bad usage.
 */
int doctor_main(char **argv);

#endif /* DOCTOR_H */
