/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_cursor - what the parsers of /proc files share; private to them
 *
 * Each takes what it names off the front and returns false if it is not there.  A number counts
 * only with the delimiter behind it and a file of lines only with its last newline: text that a
 * short buffer cut off would otherwise read as a smaller number, or as a line that the kernel
 * does not print.
 */
#ifndef PROCFS_PARSE_CURSOR_H
#define PROCFS_PARSE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct cursor {
	const char *p, *end;
};

static inline bool at(const struct cursor *c, char want)
{
	return c->p < c->end && *c->p == want;
}

static inline bool take(struct cursor *c, char want)
{
	if (!at(c, want))
		return false;
	c->p++;
	return true;
}

static inline bool take_u64(struct cursor *c, uint64_t *ret)
{
	uint64_t v = 0;
	const char *start = c->p;

	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v))
			return false;
	}
	if (c->p == start)
		return false;
	*ret = v;
	return true;
}

static inline bool take_i64(struct cursor *c, int64_t *ret)
{
	bool negative = take(c, '-');
	uint64_t v;

	if (!take_u64(c, &v) || v > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

static inline bool take_state(struct cursor *c, char *ret)
{
	if (c->p == c->end || !((*c->p >= 'A' && *c->p <= 'Z') || (*c->p >= 'a' && *c->p <= 'z')))
		return false;
	*ret = *c->p++;
	return true;
}

static inline bool at_delimiter(const struct cursor *c)
{
	return at(c, ' ') || at(c, '\n');
}

#endif /* PROCFS_PARSE_CURSOR_H */
