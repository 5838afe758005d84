/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gunzip - a compressed body made plain, of limited size
 */
#ifndef SERVE_GUNZIP_H
#define SERVE_GUNZIP_H

#include <stddef.h>

/*
 * *@ret is the caller's (free).  0; -E2BIG: it would be more than @most bytes; -EBADMSG: no gzip,
 * or cut off; or -ENOMEM.
 */
int gunzip(const char *data, size_t len, size_t most, char **ret, size_t *ret_len);

#endif /* SERVE_GUNZIP_H */
