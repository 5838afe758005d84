/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - a table or tree of text, as wide as a terminal (libsmartcols)
 *
 * Texts are made safe by the caller and copied.  Errors stick: columns_print tells of the first.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

enum columns_flag {
	COLUMN_RIGHT = 1 << 0, /* numbers */
	COLUMN_CUT = 1 << 1,   /* it gives way where all is too wide */
	COLUMN_TREE = 1 << 2,  /* the branches stand here */
};

enum columns_colour { COLOUR_NONE, COLOUR_BAD, COLOUR_FAINT };

struct columns;
struct columns_line;

/*
 * @width: of the terminal, 0 for none: nothing is cut.  0, -ENOMEM, or -EOPNOTSUPP: built without
 * libsmartcols.
 */
int columns_new(int width, bool colour, struct columns **ret);
void columns_add(struct columns *c, const char *head, int flags);
/* @parent: NULL at the top. */
struct columns_line *columns_line(struct columns *c, struct columns_line *parent,
				  enum columns_colour colour);
void columns_set(struct columns *c, struct columns_line *line, int column, const char *text);
/* 0 or -ENOMEM. */
int columns_print(struct columns *c, FILE *out);
void columns_free(struct columns *c);

#endif /* COLUMNS_H */
