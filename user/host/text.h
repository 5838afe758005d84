/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - a file of /proc or /sys in memory
 */
#ifndef HOST_TEXT_H
#define HOST_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* The first @cap bytes of it; how many, or -errno. */
ssize_t text_read(const char *path, char *buf, size_t cap);
/* All of it, at most 16 MiB; owned by the caller, NULL: not to be had. */
char *text_read_all(const char *path, size_t *ret_len);

#endif /* HOST_TEXT_H */
