/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - the HTML report's page without its data: built by npm from format/web, part of the program
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The page before and after its data; borrowed. */
struct page {
	const char *before, *after;
	size_t before_len, after_len;
};

/* False: this program was built without one. */
bool page_get(struct page *ret);

#endif /* PAGE_H */
