/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - what the table and the tree of processes have in common: their columns
 */
#ifndef FORMAT_TABLE_H
#define FORMAT_TABLE_H

#include "format/columns.h"
#include "format/format.h"

void table_heads(struct columns *c, int command_flags);
/* @command is safe to show, of at most table_name_max() bytes. */
void table_process(struct columns *c, struct columns_line *line, const struct process *p,
		   const char *command);
/* Of several together. */
void table_figures(struct columns *c, struct columns_line *line, int64_t peak_bytes, int64_t cpu_ns,
		   const char *command);
size_t table_name_max(int width);
enum columns_colour table_colour(const struct process *p);
/* The lines of text and all of @c.  0, -ENOMEM or what the sink said. */
int table_put(const struct format_input *in, struct columns *c, const struct document_sink *to);

#endif /* FORMAT_TABLE_H */
