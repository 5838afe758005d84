/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli - the command line of exitmeter
 */
#ifndef CLI_H
#define CLI_H

#include "config.h"

enum cli_result {
	CLI_RUN,        /* meter config.command */
	CLI_DONE,       /* --help or --version was printed */
	CLI_SUBCOMMAND, /* config.command[0] names one */
	CLI_ERROR,      /* one line was printed */
};

/* Fills @ret_config, which borrows from @argv. */
enum cli_result cli_parse(int argc, char **argv, struct config *ret_config);
void cli_free(struct config *c);

#endif /* CLI_H */
