/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison - several runs beside each other, as text, Markdown and the data of a page
 */
#ifndef FORMAT_COMPARISON_H
#define FORMAT_COMPARISON_H

#include "report/compare.h"
#include "report/document.h"

/* Each 0, -ENOMEM or what the sink said.  @width: of the terminal, 0 for none. */
int compare_text(const struct comparison *c, size_t width, const struct document_sink *to);
/* Of the runs of one journal too. */
int compare_markdown(const struct comparison *c, const struct document_sink *to);
int compare_html(const struct comparison *c, const struct document_sink *to);

#endif /* FORMAT_COMPARISON_H */
