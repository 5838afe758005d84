/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growing - a journal that another process still writes, read as it grows
 */
#ifndef RECORD_GROWING_H
#define RECORD_GROWING_H

#include <stdbool.h>
#include <stdio.h>

struct growing;

/*
 * A file whose end is reached only when @lifeline_fd is closed at its other end, and all was read;
 * until then a read waits.  @path of the file that @fd, which is taken, is open at; below 0:
 * -EBADF. 0 or -errno.
 */
int growing_open(int fd, const char *path, int lifeline_fd, struct growing **ret, FILE **ret_file);
/* Waits @ms; false: it is over, or was before. */
bool growing_wait(void *growing, int ms);
/* After fclose of its file. */
void growing_free(struct growing *f);

#endif /* RECORD_GROWING_H */
