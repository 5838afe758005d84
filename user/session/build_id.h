/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_id - the GNU build id of an ELF file
 */
#ifndef BUILD_ID_H
#define BUILD_ID_H

#include <stddef.h>

/* In hex, the caller's to free; NULL where @file (of @size bytes) is no ELF file or has none. */
char *build_id_of(const unsigned char *file, size_t size);

#endif /* BUILD_ID_H */
