/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid - a few short texts in columns, each as wide as its widest; and long ones in lines
 */
#ifndef GRID_H
#define GRID_H

#include <stddef.h>
#include <stdio.h>

#include "report/compare_units.h"

#define GRID_COLUMNS  4
#define GRID_ROWS_MAX (COMPARE_FIGURES_MAX + 1)

struct grid {
	size_t n; /* rows; what is not set is "" */
	char cells[GRID_ROWS_MAX][GRID_COLUMNS][COMPARE_TEXT_MAX];
};

/* Columns that @text takes on a terminal; it is harmless (units.h). */
size_t text_columns(const char *text);
/* Of the longest line. */
size_t grid_width(const struct grid *g, const char *prefix);
/* A line a row, @prefix before each. */
void grid_print(const struct grid *g, const char *prefix, FILE *out);
/* @text in lines that @width has room for, 0 for any: @prefix before each, @indent after the
 * first's. */
void print_wrapped(FILE *out, const char *prefix, const char *indent, const char *text,
		   size_t width);

#endif /* GRID_H */
