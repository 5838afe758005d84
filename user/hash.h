/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash - uthash, without its exit() where memory is short: what could not be added is not in
 *
 * After each HASH_ADD hash_is_in() says whether it is.
 */
#ifndef HASH_H
#define HASH_H

#define HASH_NONFATAL_OOM 1

#include <uthash.h>

#define hash_is_in(item) ((item)->hh.tbl != NULL)

#endif /* HASH_H */
