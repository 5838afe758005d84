/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * markdown - others' words in Markdown
 */
#ifndef MARKDOWN_H
#define MARKDOWN_H

#include <stdio.h>

/* @text, plain already, in <code>: whatever may mean something is an entity. */
void markdown_code(FILE *out, const char *text);

#endif /* MARKDOWN_H */
