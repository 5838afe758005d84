/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostcmd - exitmeter host: what machine this is, and whether it is quiet now
 */
#ifndef HOSTCMD_H
#define HOSTCMD_H

/*
 * "exitmeter host": @argv[0] is the subcommand, NULL at the end.  Returns the exit status: 0 the
 * host is quiet, 122 it is not, 125 it cannot be judged or bad usage.
 */
int hostcmd_main(char **argv);

#endif /* HOSTCMD_H */
