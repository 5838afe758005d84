// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * markdown - a run's figures and its first processes as tables, for a CI job's summary
 *
 * Others' names stand in <code> with every character that may mean something as an entity, so that
 * none becomes markup, HTML, a mention or a cell's end.
 */
#include <string.h>

#include "format/cells.h"
#include "format/comparison.h"
#include "format/format.h"
#include "format/markdown.h"
#include "format/name.h"
#include "report/gather.h"
#include "units.h"

#define PROCESS_NAME_MAX 96

void markdown_code(FILE *out, const char *text)
{
	fputs("<code>", out);
	for (; *text; text++)
		if (strchr("&<>|\"'`*_[]()\\#~@!:/$+-=.{}^%;", *text))
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
	fputs("</code>", out);
}

static void put_text(FILE *out, const char *text)
{
	char plain[512];

	plain_text(text, strlen(text), plain, sizeof(plain));
	markdown_code(out, plain);
}

static void put_cell(FILE *out, const char *text)
{
	fprintf(out, " %s |", *text ? text : "-");
}

static void put_figures(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;
	const struct process end = { .exit_code = s->run.exit_code,
				     .exit_signal = s->run.exit_signal };
	char low[CELL_MAX], high[CELL_MAX], text[2 * CELL_MAX + 8];

	fputs("\n\n| peak memory | CPU time | cores | wall time | processes | exit |\n"
	      "|---:|---:|---:|---:|---:|---:|\n|",
	      out);
	cell_bytes(u->peak_lower_bytes, low);
	cell_bytes(u->peak_upper_bytes, high);
	if (*low && *high && strcmp(low, high) != 0)
		snprintf(text, sizeof(text), "%s to %s", low, high);
	else
		snprintf(text, sizeof(text), "%s", low);
	put_cell(out, text);
	put_cell(out, cell_time(u->cpu_ns, text));
	*text = '\0';
	if (u->peak_cpus >= 0)
		snprintf(text, sizeof(text), "up to %.1f", u->peak_cpus);
	put_cell(out, text);
	put_cell(out, cell_time(s->run.wall_ns, text));
	put_cell(out, cell_count(u->total_processes, text));
	put_cell(out, cell_end(&end, text));
	putc('\n', out);
}

static void put_reasons(FILE *out, const struct summary *s)
{
	const struct texts *reasons = &s->completeness.reasons;

	if (s->completeness.exact == 1)
		return;
	fputs("\nNot exact:\n\n", out);
	for (size_t i = 0; i < reasons->n; i++) {
		fputs("* ", out);
		put_text(out, reasons->at[i]);
		putc('\n', out);
	}
	if (!reasons->n)
		fputs("* the record says nothing of why\n", out);
}

static void put_process(FILE *out, const struct process *p)
{
	char text[CELL_MAX], name[PROCESS_NAME_MAX];

	process_name(p, name, sizeof(name));
	fputs("| ", out);
	markdown_code(out, name);
	fputs(" |", out);
	put_cell(out, cell_count(p->pid, text));
	put_cell(out, cell_bytes(p->peak_rss_bytes, text));
	put_cell(out, cell_time(p->cpu_ns, text));
	put_cell(out, cell_time(process_lived_ns(p), text));
	put_cell(out, cell_end(p, text));
	putc('\n', out);
}

static int put_processes(struct gathered *g, const struct format_input *in,
			 const struct document_sink *to)
{
	const struct summary *s = in->summary;
	size_t n = s->n_rows < in->top ? s->n_rows : in->top;
	struct process *p;
	int err = 0;

	if (!in->all && !n)
		return 0;
	fputs("\n| process | PID | peak | CPU | lived | exit |\n|---|---:|---:|---:|---:|---:|\n",
	      g->f);
	if (in->all) {
		while (!err && (p = in->rows->next(in->rows->ctx))) {
			put_process(g->f, p);
			process_unref(p);
			err = gather_hand_on(g, GATHER_CHUNK, to);
		}
		return err;
	}
	for (size_t i = 0; i < n; i++)
		put_process(g->f, s->rows[i]);
	if (s->usage.total_processes > (int64_t)n)
		fprintf(g->f, "\n%zu of %lld processes.\n", n, (long long)s->usage.total_processes);
	return 0;
}

int format_markdown(const struct format_input *in, const struct document_sink *to)
{
	char name[RUN_NAME_MAX];
	struct gathered g;
	int err;

	if (in->series)
		return compare_markdown(&in->series->c, to);
	err = gather_open(&g);
	if (err)
		return err;
	run_name(in->summary, name);
	fputs("### ", g.f);
	markdown_code(g.f, name);
	put_figures(g.f, in->summary);
	put_reasons(g.f, in->summary);
	err = put_processes(&g, in, to);
	return gather_close(&g, err, to);
}
