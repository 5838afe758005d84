// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table - the lines of text, then processes in columns: as a list, or as the tree they were
 */
#include "format/table.h"

#include <errno.h>
#include <string.h>

#include "format/cells.h"
#include "format/columns.h"
#include "format/format.h"
#include "format/name.h"
#include "report/gather.h"
#include "report/text.h"

#define NAME_MAX_FILE 120 /* where no terminal says how much there is room for */
#define NAME_MAX_ANY  512

enum { PID, PPID, PEAK, CPU, START, LIVED, END, COMMAND };

void table_heads(struct columns *c, int command_flags)
{
	static const char *const heads[] = {
		"PID", "PPID", "PEAK", "CPU", "START", "LIVED", "EXIT"
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		columns_add(c, heads[i], COLUMN_RIGHT);
	columns_add(c, "COMMAND", COLUMN_CUT | command_flags);
}

void table_figures(struct columns *c, struct columns_line *line, int64_t peak_bytes, int64_t cpu_ns,
		   const char *command)
{
	char text[CELL_MAX];

	columns_set(c, line, PEAK, cell_bytes(peak_bytes, text));
	columns_set(c, line, CPU, cell_time(cpu_ns, text));
	columns_set(c, line, COMMAND, command);
}

void table_process(struct columns *c, struct columns_line *line, const struct process *p,
		   const char *command)
{
	char text[CELL_MAX];

	table_figures(c, line, p->peak_rss_bytes, p->cpu_ns, command);
	columns_set(c, line, PID, cell_count(p->pid, text));
	columns_set(c, line, PPID, cell_count(p->ppid, text));
	*text = '\0';
	if (p->started_ns != TIME_NONE)
		snprintf(text, sizeof(text), "%.2f", (double)p->started_ns / 1e9);
	columns_set(c, line, START, text);
	columns_set(c, line, LIVED, cell_time(process_lived_ns(p), text));
	columns_set(c, line, END, cell_end(p, text));
}

size_t table_name_max(int width)
{
	return width <= 0 ? NAME_MAX_FILE : width < NAME_MAX_ANY ? (size_t)width : NAME_MAX_ANY;
}

enum columns_colour table_colour(const struct process *p)
{
	return process_failed(p) ? COLOUR_BAD : COLOUR_NONE;
}

static void add_process(struct columns *c, const struct process *p, int width)
{
	char name[NAME_MAX_ANY];

	process_name(p, name, table_name_max(width));
	table_process(c, columns_line(c, NULL, table_colour(p)), p, name);
}

int table_put(const struct format_input *in, struct columns *c, const struct document_sink *to)
{
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	text_summary(g.f, in->summary);
	err = columns_print(c, g.f);
	return gather_close(&g, err, to);
}

int format_table(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	struct columns *c;
	struct process *p;
	int err = columns_new(in->width, in->colour, &c);

	if (err)
		return err;
	table_heads(c, 0);
	if (in->all) {
		while ((p = in->rows->next(in->rows->ctx))) {
			add_process(c, p, in->width);
			process_unref(p);
		}
	} else {
		for (size_t i = 0; i < s->n_rows && i < in->top; i++)
			add_process(c, s->rows[i], in->width);
	}
	err = table_put(in, c, to);
	columns_free(c);
	return err;
}
