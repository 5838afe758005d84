/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs - where exitmeter's other executables are
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

/*
 * Executes exitmeter-@name: the one beside this very program, else the one in ../libexec/exitmeter
 * from there, else the one where it is to be installed.  Returns only when none could be: -errno.
 */
int program_exec(const char *name, char *const argv[]);

/* Whether there is one.  0 or -errno. */
int program_there(const char *name);

#endif /* PROGRAMS_H */
