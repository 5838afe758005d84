// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/columns.h"

#include <errno.h>
#include <stdlib.h>

#include <libsmartcols.h>

struct columns {
	struct libscols_table *table;
	bool colour;
	int err;
};

int columns_new(int width, bool colour, struct columns **ret)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->table = scols_new_table();
	if (!c->table) {
		free(c);
		return -ENOMEM;
	}
	c->colour = colour;
	c->err = scols_table_enable_colors(c->table, colour);
	if (!c->err)
		c->err = scols_table_enable_noencoding(c->table, 1);
	if (!c->err)
		c->err = scols_table_set_termforce(c->table, width > 0 ? SCOLS_TERMFORCE_ALWAYS
								       : SCOLS_TERMFORCE_NEVER);
	if (!c->err && width > 0)
		c->err = scols_table_set_termwidth(c->table, (size_t)width);
	*ret = c;
	return 0;
}

void columns_add(struct columns *c, const char *head, int flags)
{
	int scols = 0;

	if (flags & COLUMN_RIGHT)
		scols |= SCOLS_FL_RIGHT;
	if (flags & COLUMN_CUT)
		scols |= SCOLS_FL_TRUNC;
	if (flags & COLUMN_TREE)
		scols |= SCOLS_FL_TREE;
	if (!scols_table_new_column(c->table, head, flags & COLUMN_CUT ? 0.1 : 1, scols) && !c->err)
		c->err = -ENOMEM;
}

struct columns_line *columns_line(struct columns *c, struct columns_line *parent,
				  enum columns_colour colour)
{
	static const char *const names[] = { [COLOUR_BAD] = "red", [COLOUR_FAINT] = "halfbright" };
	struct libscols_line *line = scols_table_new_line(c->table, (struct libscols_line *)parent);

	if (!line) {
		c->err = c->err ? c->err : -ENOMEM;
		return NULL;
	}
	if (c->colour && colour)
		scols_line_set_color(line, names[colour]);
	return (struct columns_line *)line;
}

void columns_set(struct columns *c, struct columns_line *line, int column, const char *text)
{
	int err =
		line ? scols_line_set_data((struct libscols_line *)line, (size_t)column, text) : 0;

	if (err && !c->err)
		c->err = err;
}

int columns_print(struct columns *c, FILE *out)
{
	int err = c->err;

	if (!err)
		err = scols_table_set_stream(c->table, out);
	if (!err)
		err = scols_print_table(c->table);
	return err < 0 ? err : 0;
}

void columns_free(struct columns *c)
{
	if (!c)
		return;
	scols_unref_table(c->table);
	free(c);
}
