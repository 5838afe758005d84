/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - one table of options that makes the long and short ones and --help, and what both
 * command lines parse the same way
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_MAX 64 /* rows of a table */

struct opt {
	int key; /* short option, or a value above 255 for a long-only one */
	const char *name;
	const char *metavar; /* NULL: takes no argument; "[=...]": it may be left out */
	const char *help;
};

/* A command line whose --help and --version are answered, and the rest taken. */
struct options_command {
	const struct opt *opts;
	size_t n;
	void (*help)(void);
	/* False after one line was printed. */
	bool (*take)(int key, const char *arg, void *options);
};

/*
 * True: all were taken, and optind is that of the first word that is none.  False: *@ret_status is
 * what to exit with, and the help or one line was printed.
 */
bool options_take(int argc, char **argv, const struct options_command *c, void *options,
		  int *ret_status);

/* For getopt_long: @prefix and the short options into @shorts, @n + 1 rows into @longs. */
void options_getopt(const struct opt *opts, size_t n, const char *prefix,
		    char shorts[3 * OPTIONS_MAX], struct option longs[OPTIONS_MAX + 1]);
/* The table as --help shows it, on stdout. */
void options_print(const struct opt *opts, size_t n);

/* Each prints one line, but where it is said, and is false when @text is not one. */
bool options_number(const char *what, const char *text, long least, long most, long *ret);
/* Seconds from 0 on, with a fraction; false, and nothing said, when @text is none. */
bool options_seconds(const char *text, double *ret);
/* Whether it is the name of an environment variable that can be looked for; prints nothing. */
bool options_variable(const char *name);
/* "peak", "cpu" or "start": 0, 1, 2. */
bool options_sort(const char *text, int *ret);

/* One line for getopt's ':' or '?', the option as it was written. */
void options_say_wrong(int key, char *const argv[]);

#endif /* OPTIONS_H */
