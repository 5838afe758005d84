// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/grid.h"

#include <string.h>
#include <wchar.h>

#include "units.h"

#define GAP        "  "
#define LEAST_TEXT 16 /* columns a line of text has, however narrow the terminal */

/* Of the character at @at, whose length is *@ret_len. */
static size_t char_columns(const char *at, size_t *ret_len)
{
	uint32_t c = 0;
	size_t len = utf8_char((const unsigned char *)at, strlen(at), &c);
	int columns = len ? wcwidth((wchar_t)c) : 1;

	*ret_len = len ? len : 1;
	return columns < 0 ? 1 : (size_t)columns;
}

size_t text_columns(const char *text)
{
	size_t columns = 0, len;

	for (; *text; text += len)
		columns += char_columns(text, &len);
	return columns;
}

static size_t column_width(const struct grid *g, size_t column)
{
	size_t most = 0;

	for (size_t i = 0; i < g->n; i++) {
		size_t n = text_columns(g->cells[i][column]);

		most = n > most ? n : most;
	}
	return most;
}

/* How many columns of a row say something. */
static size_t cells_of(const struct grid *g, size_t row)
{
	size_t n = GRID_COLUMNS;

	while (n && !*g->cells[row][n - 1])
		n--;
	return n;
}

static size_t row_width(const struct grid *g, size_t row, const size_t widths[GRID_COLUMNS])
{
	size_t n = cells_of(g, row), width = 0;

	for (size_t i = 0; i < n; i++)
		width += i + 1 < n ? widths[i] + strlen(GAP) : text_columns(g->cells[row][i]);
	return width;
}

size_t grid_width(const struct grid *g, const char *prefix)
{
	size_t widths[GRID_COLUMNS], most = 0;

	for (size_t i = 0; i < GRID_COLUMNS; i++)
		widths[i] = column_width(g, i);
	for (size_t i = 0; i < g->n; i++) {
		size_t n = row_width(g, i, widths);

		most = n > most ? n : most;
	}
	return text_columns(prefix) + most;
}

static void print_row(const struct grid *g, size_t row, const size_t widths[GRID_COLUMNS],
		      FILE *out)
{
	size_t n = cells_of(g, row);

	for (size_t i = 0; i < n; i++) {
		const char *text = g->cells[row][i];

		fputs(text, out);
		if (i + 1 < n)
			fprintf(out, "%*s" GAP, (int)(widths[i] - text_columns(text)), "");
	}
}

void grid_print(const struct grid *g, const char *prefix, FILE *out)
{
	size_t widths[GRID_COLUMNS];

	for (size_t i = 0; i < GRID_COLUMNS; i++)
		widths[i] = column_width(g, i);
	for (size_t i = 0; i < g->n; i++) {
		fputs(prefix, out);
		print_row(g, i, widths, out);
		fputc('\n', out);
	}
}

/* Bytes of @text that @room columns hold: to a space in their second half, where there is one. */
static size_t piece_of(const char *text, size_t room)
{
	size_t at = 0, columns = 0, space = 0, len;

	while (text[at]) {
		columns += char_columns(text + at, &len);
		if (text[at] == ' ')
			space = at;
		if (columns > room)
			return space > at / 2 ? space : at ? at : len;
		at += len;
	}
	return at;
}

void print_wrapped(FILE *out, const char *prefix, const char *indent, const char *text,
		   size_t width)
{
	const char *between = "";

	do {
		size_t before = text_columns(prefix) + text_columns(between);
		size_t room = width > before + LEAST_TEXT ? width - before : LEAST_TEXT;
		size_t n = width ? piece_of(text, room) : strlen(text);

		fprintf(out, "%s%s%.*s\n", prefix, between, (int)n, text);
		text += n + (text[n] == ' ');
		between = indent;
	} while (*text);
}
