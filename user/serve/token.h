/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * token - the secret that a client has to know
 */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include <stdbool.h>

#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1]; /* "": none is asked for */
};

/*
 * Of @path, a file whose first line it is, else of the environment's EXITMETER_TOKEN.  0, or -errno
 * after one line was printed.
 */
int token_read(const char *path, struct token *ret);
/*
 * Whether @header, of Authorization (NULL: none), has it; true where none is asked for.  The time
 * this takes tells nothing of what the token is.
 */
bool token_matches(const struct token *t, const char *header);

#endif /* SERVE_TOKEN_H */
