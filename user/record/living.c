// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/living.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES 4096

struct living_run *living_run(struct living *l, int64_t number)
{
	struct living_run *r;

	HASH_FIND(hh, l->runs, &number, sizeof(number), r);
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->number = number;
	r->x.max_rss = -1;
	HASH_ADD(hh, l->runs, number, sizeof(r->number), r);
	if (hash_is_in(r))
		return r;
	free(r);
	return NULL;
}

bool living_may_be(const struct living *l, int64_t number)
{
	size_t byte = (size_t)number / 8;

	if (number < 0 || number >= LIVING_MAX)
		return false;
	return byte >= l->ended_bytes || !(l->ended[byte] & 1 << number % 8);
}

static void forget(struct living *l, struct living_run *r)
{
	HASH_DEL(l->runs, r); // NOLINT(clang-analyzer-core.NullDereference): it is in the table
	ended_free(&r->x);
	free(r);
}

int living_end(struct living *l, struct living_run *r)
{
	size_t byte = (size_t)r->number / 8, bytes = (byte / STEP_BYTES + 1) * STEP_BYTES;
	int bit = 1 << r->number % 8;

	forget(l, r);
	if (bytes > l->ended_bytes) {
		unsigned char *more = realloc(l->ended, bytes);

		if (!more)
			return -ENOMEM;
		memset(more + l->ended_bytes, 0, bytes - l->ended_bytes);
		l->ended = more;
		l->ended_bytes = bytes;
	}
	l->ended[byte] |= (unsigned char)bit;
	return 0;
}

void living_free(struct living *l)
{
	struct living_run *r, *next;

	for (r = l->runs; r; r = next) {
		next = r->hh.next;
		forget(l, r);
	}
	free(l->ended);
}
