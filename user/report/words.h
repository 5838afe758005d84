/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words - of a process's arguments those to be shown
 *
 * All where there is room for them.  Else options, and the words that those of compilers and
 * linkers take, are left out, so that it is seen which file was compiled: "cc1plus foo.cc".
 */
#ifndef WORDS_H
#define WORDS_H

#include "model/process.h"

struct words {
	const char *at, *end;
	bool few;
};

/* Of @p behind the program's own name; @room: bytes. */
struct words words_of(const struct process *p, size_t room);
/* The next one, which is not closed with NUL; NULL: there is none. */
const char *words_next(struct words *w, size_t *ret_len);

#endif /* WORDS_H */
