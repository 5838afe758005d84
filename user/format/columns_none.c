// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns_none - where there is no libsmartcols to build with, as for a static program
 */
#include "format/columns.h"

#include <errno.h>
#include <stddef.h>

int columns_new(int width, bool colour, struct columns **ret)
{
	(void)width;
	(void)colour;
	*ret = NULL;
	return -EOPNOTSUPP;
}

void columns_add(struct columns *c, const char *head, int flags)
{
	(void)c;
	(void)head;
	(void)flags;
}

struct columns_line *columns_line(struct columns *c, struct columns_line *parent,
				  enum columns_colour colour)
{
	(void)c;
	(void)parent;
	(void)colour;
	return NULL;
}

void columns_set(struct columns *c, struct columns_line *line, int column, const char *text)
{
	(void)c;
	(void)line;
	(void)column;
	(void)text;
}

int columns_print(struct columns *c, FILE *out)
{
	(void)c;
	(void)out;
	return -EOPNOTSUPP;
}

void columns_free(struct columns *c)
{
	(void)c;
}
