/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * texts - a short list of distinct sentences: notes, reasons
 */
#ifndef TEXTS_H
#define TEXTS_H

#include <stddef.h>

#define TEXTS_MAX 32

struct texts {
	char *at[TEXTS_MAX]; /* owned */
	size_t n;
};

/* Adds the sentence unless it is there; silently none past TEXTS_MAX or without memory. */
void texts_add(struct texts *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void texts_free(struct texts *t);

#endif /* TEXTS_H */
