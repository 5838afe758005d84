/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor - reading JSON from a text that need not end with a NUL; for exitmeter itself
 *
 * Each takes what is next, spaces before it aside, or is false and has taken it or not.
 */
#ifndef EM_CURSOR_H
#define EM_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_cursor {
	const char *at, *end;
};

bool em_take(struct em_cursor *c, char what);
bool em_take_word(struct em_cursor *c, const char *word);
bool em_take_double(struct em_cursor *c, double *ret);
bool em_take_int(struct em_cursor *c, int64_t *ret);
/* Its text without the quotes, escapes as they are. */
bool em_take_string(struct em_cursor *c, const char **ret, size_t *ret_len);
/* Any value. */
bool em_skip_value(struct em_cursor *c);
bool em_at_end(struct em_cursor *c);

/*
 * A string's escapes undone, in at most @cap bytes; \u escapes become UTF-8, of half a pair the
 * replacement character.  The length, or @cap + 1 when it does not fit or is none.
 */
size_t em_unescape(const char *text, size_t len, char *buf, size_t cap);

#endif /* EM_CURSOR_H */
