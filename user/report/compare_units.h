/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_units - figures of a comparison for people
 */
#ifndef COMPARE_UNITS_H
#define COMPARE_UNITS_H

#include "report/compare.h"

#define COMPARE_TEXT_MAX 96

void compare_unit_text(double v, enum compare_unit unit, char *buf, size_t cap);
/* "0.47 to 0.50 s"; "" where the runs do not differ in what is shown of them. */
void compare_range_text(const struct compare_value *v, enum compare_unit unit,
			char buf[COMPARE_TEXT_MAX]);
/* The median, and the range in parentheses; "-" where it is not known. */
void compare_value_text(const struct compare_value *v, enum compare_unit unit,
			char buf[COMPARE_TEXT_MAX]);

#endif /* COMPARE_UNITS_H */
