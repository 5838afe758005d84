/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inodes - a set of files, of bounded size
 */
#ifndef HOST_INODES_H
#define HOST_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INODES_MAX ((size_t)1 << 20)

struct inode {
	uint64_t dev, ino;
};

struct inodes {
	struct inode *at;
	bool *taken;
	size_t n, cap; /* @cap a power of two, or 0 */
	bool full;     /* one was not taken in: it may come again */
};

/* Takes it in; whether it was there already. */
bool inodes_seen(struct inodes *s, uint64_t dev, uint64_t ino);
void inodes_free(struct inodes *s);

#endif /* HOST_INODES_H */
