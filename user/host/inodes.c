// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/inodes.h"

#include <stdlib.h>

#define CAP_FIRST 256

static size_t place(const struct inodes *s, struct inode of)
{
	uint64_t hash = (of.ino ^ of.dev << 32 ^ of.dev >> 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(hash >> 20) & (s->cap - 1);

	while (s->taken[i] && (s->at[i].ino != of.ino || s->at[i].dev != of.dev))
		i = (i + 1) & (s->cap - 1);
	return i;
}

static bool grow(struct inodes *s)
{
	struct inodes more = { .cap = s->cap ? 2 * s->cap : CAP_FIRST };

	more.at = calloc(more.cap, sizeof(*more.at));
	more.taken = calloc(more.cap, sizeof(*more.taken));
	if (!more.at || !more.taken) {
		inodes_free(&more);
		return false;
	}
	for (size_t i = 0; i < s->cap; i++) {
		size_t to;

		if (!s->taken[i])
			continue;
		to = place(&more, s->at[i]);
		more.at[to] = s->at[i];
		more.taken[to] = true;
		more.n++;
	}
	inodes_free(s);
	*s = more;
	return true;
}

bool inodes_seen(struct inodes *s, uint64_t dev, uint64_t ino)
{
	struct inode of = { dev, ino };
	size_t i = s->cap ? place(s, of) : 0;

	if (s->cap && s->taken[i])
		return true;
	if (s->n >= INODES_MAX || (s->n >= s->cap / 2 && !grow(s))) {
		s->full = true;
		return false;
	}
	i = place(s, of);
	s->at[i] = of;
	s->taken[i] = true;
	s->n++;
	return false;
}

void inodes_free(struct inodes *s)
{
	free(s->at);
	free(s->taken);
	*s = (struct inodes){ 0 };
}
