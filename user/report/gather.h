/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gather - what a document has written so far, handed on to its sink in large pieces
 */
#ifndef GATHER_H
#define GATHER_H

#include <stdio.h>

#include "journal/json.h"
#include "report/document.h"

#define GATHER_CHUNK ((size_t)64 * 1024)

/* Text in memory: it goes out in whole lines, and in one write where it is short. */
struct gathered {
	FILE *f; /* to be printed into */
	char *text;
	size_t len;
};

/* 0 or -ENOMEM. */
int gather_open(struct gathered *g);
/* Hands on what there is once that is @least bytes.  0, -ENOMEM or what the sink said. */
int gather_hand_on(struct gathered *g, size_t least, const struct document_sink *to);
/* Hands on the rest unless @err, which it then returns, and frees. */
int gather_close(struct gathered *g, int err, const struct document_sink *to);

/* The same of JSON; commas are right behind it. */
int json_hand_on(struct json *j, size_t least, const struct document_sink *to);

#endif /* GATHER_H */
