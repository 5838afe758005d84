/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * number - doubles and integers as JSON has them, in every locale; for exitmeter itself
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EM_NUMBER_MAX 64 /* room for any double's text */

/* The shortest text that reads back to @v, which is finite.  Returns its length. */
size_t em_double_text(double v, char text[EM_NUMBER_MAX]);

/* The JSON number that @text begins with: its length, 0 for none; *@ret_int: without . and e. */
size_t em_number_len(const char *text, size_t len, bool *ret_int);
/* Of that number; false: too large, or for the second no integer. */
bool em_number_double(const char *text, size_t len, double *ret);
bool em_number_int(const char *text, size_t len, int64_t *ret);

#endif /* NUMBER_H */
