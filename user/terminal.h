/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal - what a descriptor shows text on, if it is a terminal
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* "auto", "always" or "never"; false after one line was printed. */
bool when_of(const char *what, const char *text, enum when *ret);

/* A terminal that understands more than lines; NO_COLOR is not asked. */
bool terminal_able(int fd);
/* Columns; 0: no terminal, or it does not say. */
int terminal_width(int fd);
/* INTERFACE 1: auto is a terminal without NO_COLOR, TERM=dumb or CI. */
bool terminal_colour(enum when when, int fd);

#endif /* TERMINAL_H */
