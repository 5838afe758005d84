// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_grid - texts in columns, and in as many lines as they need
 */
#include "report/grid.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void printed(char *(*print)(void), const char *want, const char *label)
{
	char *got = print();

	EQ_S(got, want, "%s", label);
	free(got);
}

static char *grid_text(void)
{
	static const char *const cells[][GRID_COLUMNS] = {
		{ "", "a", "b", "difference" },
		{ "wall", "1.2 s", "-", "" },
		{ "CPU", "", "", "" },
		{ "n", "\xc3\xa9", "1", "none" },
	};
	struct grid g = { .n = COUNT(cells) };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < COUNT(cells); i++)
		for (size_t k = 0; k < GRID_COLUMNS; k++)
			snprintf(g.cells[i][k], COMPARE_TEXT_MAX, "%s", cells[i][k]);
	grid_print(&g, "> ", f);
	EQ_I(grid_width(&g, "> "), strlen("> wall  1.2 s  b  difference"), "grid: its width");
	fclose(f);
	return text;
}

static const struct {
	const char *label, *text;
	size_t width;
	const char *want;
} wraps[] = {
	{ "no terminal", "a long text that is not cut anywhere", 0,
	  "> a long text that is not cut anywhere\n" },
	{ "it fits", "sixteen columns.", 19, "> sixteen columns.\n" },
	{ "at a space", "one two three four five", 20, "> one two three four\n>  five\n" },
	{ "one word", "0123456789abcdefghijklmnopqrstuvwxyz", 20,
	  "> 0123456789abcdefgh\n>  ijklmnopqrstuvwxy\n>  z\n" },
	{ "characters, not bytes",
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 19,
	  "> \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\n" },
	{ "two columns a character",
	  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4"
	  "\xb8\xad\xe4\xb8\xad",
	  19,
	  "> "
	  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4"
	  "\xb8\xad\n>  \xe4\xb8\xad\n" },
	{ "nothing", "", 20, "> \n" },
	{ "hardly any room", "0123456789abcdefg", 1, "> 0123456789abcdef\n>  g\n" },
};

static size_t at;

static char *wrapped(void)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print_wrapped(f, "> ", " ", wraps[at].text, wraps[at].width);
	fclose(f);
	return text;
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	printed(grid_text,
		">       a      b  difference\n"
		"> wall  1.2 s  -\n"
		"> CPU\n"
		"> n     \xc3\xa9      1  none\n",
		"grid: columns as wide as their widest, nothing behind the last");
	for (at = 0; at < COUNT(wraps); at++)
		printed(wrapped, wraps[at].want, wraps[at].label);
	return tap_done();
}
