/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output - a file a report goes to, opened before anything starts
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

struct output {
	const char *name; /* borrowed, for messages */
	int fd;           /* -1: none; not inherited by the command */
	bool replaces;    /* a regular file whose content goes when the new one is ready */
};

/*
 * @name: a path, "-" for stdout, "fd:N", or NULL for none.  A path is created but not emptied.
 * 0; -errno after one line was printed.
 */
int output_open(const char *name, bool append, struct output *ret);
/* Right before the first byte: empties what it replaces. */
void output_begin(struct output *o);
/* Reports an error that closing brings; 0 or -errno. */
int output_close(struct output *o);

#endif /* OUTPUT_H */
