/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs - where exitmeter's other executables are
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stddef.h>

/*
 * Executes exitmeter-@name: the one beside this very program, else the one in ../libexec/exitmeter
 * from there, else the one where it is to be installed.  Returns only when none could be: -errno.
 */
int program_exec(const char *name, char *const argv[]);

/* Whether there is one.  0 or -errno. */
int program_there(const char *name);

/* Which one that is, in @path.  0 or -errno. */
int program_find(const char *name, char *path, size_t cap);

#endif /* PROGRAMS_H */
