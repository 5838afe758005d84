/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - the HTML report's page without its data: built by npm from format/web, part of the program
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "journal/json.h"
#include "report/document.h"

/* The page before and after its data; borrowed. */
struct page {
	const char *before, *after;
	size_t before_len, after_len;
};

/* False: this program was built without one. */
bool page_get(struct page *ret);
/* The page with its data, a JSON object, in it.  0, -ENOSYS without a page, or what the sink said.
 */
int page_write(const struct json *data, const struct document_sink *to);

#endif /* PAGE_H */
