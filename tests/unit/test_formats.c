// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_formats - the forms of other tools (INTERFACE 6), of a run that is known and of one that is
 * not
 */
#include <errno.h>
#include <stdlib.h>

#include "format/format.h"
#include "format/name.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char text[65536];
static size_t len;

static int put(void *ctx, const char *data, size_t n)
{
	(void)ctx;
	if (n > sizeof(text) - 1 - len)
		return -ENOSPC;
	memcpy(text + len, data, n);
	text[len += n] = '\0';
	return 0;
}

static const struct document_sink to = { put, NULL };

static struct process *row(int pid, int ppid, int64_t started_ms, int64_t mib, const char *comm)
{
	struct process *p = process_blank(0);

	if (!p)
		abort();
	p->pid = pid;
	p->ppid = ppid;
	p->started_ns = started_ms * NS_PER_MS;
	p->ended_ns = p->started_ns + 1500 * NS_PER_MS;
	p->peak_rss_bytes = mib << 20;
	p->cpu_ns = mib * NS_PER_MS * 10;
	p->exit_code = 0;
	memcpy(p->comm, comm, strlen(comm));
	return p;
}

static struct summary *known(void)
{
	struct summary *s = summary_new();

	if (!s)
		abort();
	s->run.wall_ns = 90061 * NS_PER_S + 234567890;
	s->run.exit_code = 3;
	s->run.labels = calloc(1, sizeof(*s->run.labels));
	s->run.n_labels = 1;
	s->run.labels[0] = (struct label){ strdup("name"), strdup("a\"|<b>") };
	s->usage.peak_lower_bytes = 845152256;
	s->usage.peak_upper_bytes = 854589440;
	s->usage.cpu_ns = 41 * NS_PER_S + 250 * NS_PER_MS;
	s->usage.mean_cpus = 0.985;
	s->usage.peak_cpus = 3.94;
	s->usage.total_processes = 214;
	s->usage.io = (struct io_counts){ 1048576, 524288, 0, 11, 12, 13, 14 };
	s->usage.voluntary_switches = 15;
	s->usage.involuntary_switches = 16;
	s->env.memory_bytes = 8451522560;
	s->env.cpu_model = strdup("A = B\n");
	s->completeness.exact = 1;
	return s;
}

#define SNAKEMAKE_HEAD \
	"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"

static const struct {
	const char *label;
	const struct report_kind *kind;
	bool known;
	const char *want;
} forms[] = {
	{ "snakemake", &kind_snakemake, true,
	  SNAKEMAKE_HEAD
	  "90061.2346\t1 day, 1:01:01\t806.00\t-\t-\t-\t1.00\t0.50\t98.50\t41.25\n" },
	{ "snakemake, nothing known", &kind_snakemake, false,
	  SNAKEMAKE_HEAD "-\t-\t-\t-\t-\t-\t-\t-\t-\t-\n" },
	{ "nextflow", &kind_nextflow, true,
	  "nextflow.trace/v2\nrealtime=90061234\n%cpu=0\ncpu_model=A = B\\x0a\nrchar=11\nwchar=12\n"
	  "syscr=13\nsyscw=14\nread_bytes=1048576\nwrite_bytes=524288\n%mem=100\nrss=825344\n"
	  "peak_rss=834560\nvol_ctxt=15\ninv_ctxt=16\n" },
	{ "nextflow, nothing known", &kind_nextflow, false, "nextflow.trace/v2\n" },
	{ "benchexec", &kind_benchexec, true,
	  "walltime=90061.234567890s\ncputime=41.250000000s\nmemory=845152256B\n"
	  "blkio-read=1048576B\nblkio-write=524288B\nreturnvalue=3\n" },
	{ "benchexec, nothing known", &kind_benchexec, false, "" },
	{ "benchmark-action", &kind_benchmark_action, true,
	  "[{\"name\":\"a\\\"|<b>: peak memory\",\"unit\":\"MiB\",\"value\":806,"
	  "\"range\":\"806.00 to 815.00\",\"extra\":\"every process's end was seen\"},"
	  "{\"name\":\"a\\\"|<b>: CPU time\",\"unit\":\"s\",\"value\":41.25},"
	  "{\"name\":\"a\\\"|<b>: wall time\",\"unit\":\"s\",\"value\":90061.23456789}]\n" },
	{ "benchmark-action, nothing known", &kind_benchmark_action, false, "[]\n" },
	{ "bencher", &kind_bencher, true,
	  "{\"a\\\"|<b>\":{\"memory\":{\"value\":845152256,\"lower_value\":845152256,"
	  "\"upper_value\":854589440},\"cpu-time\":{\"value\":41.25},"
	  "\"wall-time\":{\"value\":90061.23456789}}}\n" },
	{ "bencher, nothing known", &kind_bencher, false, "{\"run\":{}}\n" },
	{ "markdown", &kind_markdown, true,
	  "### <code>a&#34;&#124;&#60;b&#62;</code>\n\n"
	  "| peak memory | CPU time | cores | wall time | processes | exit |\n"
	  "|---:|---:|---:|---:|---:|---:|\n"
	  "| 806 MB to 815 MB | 41.2 s | up to 3.9 | 25.0 h | 214 | 3 |\n" },
	{ "markdown, nothing known", &kind_markdown, false,
	  "### <code>run</code>\n\n"
	  "| peak memory | CPU time | cores | wall time | processes | exit |\n"
	  "|---:|---:|---:|---:|---:|---:|\n| - | - | - | - | - | - |\n"
	  "\nNot exact:\n\n* the record says nothing of why\n" },
};

static const char *form(const struct report_kind *kind, const struct format_input *in)
{
	len = 0;
	*text = '\0';
	return format_of_kind(kind)->write(in, &to) ? NULL : text;
}

static void other_tools(void)
{
	struct summary *s = known(), *blank = summary_new();

	blank->completeness.exact = 0;
	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct format_input in = { .summary = forms[i].known ? s : blank, .top = 10 };

		EQ_S(form(forms[i].kind, &in), forms[i].want, "%s", forms[i].label);
	}
	summary_free(s);
	summary_free(blank);
}

/* --- tables --------------------------------------------------------------------------------- */

struct list {
	struct process **at;
	size_t n;
};

static struct process *next(void *ctx)
{
	struct list *l = ctx;

	return l->n ? l->n--, process_ref(*l->at++) : NULL;
}

/* The table's part: what stands behind the lines of text. */
static const char *behind_text(const char *all)
{
	const char *head = all ? strstr(all, "PID") : NULL;

	while (head && head > all && head[-1] != '\n')
		head--;
	return head;
}

static void trees(void)
{
	struct process *rows[] = {
		row(12, 11, 300, 9, "late"),  row(11, 10, 100, 2, "middle"),
		row(13, 11, 310, 1, "small"), row(14, 11, 320, 1, "small"),
		row(10, 1, 0, 3, "root"),     row(11, 10, 5000, 4, "again"),
		row(15, 11, 5100, 5, "its"),
	};
	struct summary *s = known();
	struct list l = { rows, COUNT(rows) };
	const struct document_rows all = { next, &l };
	struct format_input in = { .summary = s, .rows = &all, .top = 2, .sort = TOP_PEAK };

	EQ_S(behind_text(form(&kind_tree, &in)),
	     "PID PPID   PEAK    CPU START LIVED EXIT COMMAND\n"
	     " 10    1 3.0 MB 0.03 s  0.00 1.5 s    0 root\n"
	     " 11   10 2.0 MB 0.02 s  0.10 1.5 s    0 |-middle\n"
	     " 12   11 9.0 MB 0.09 s  0.30 1.5 s    0 | |-late\n"
	     "         1.0 MB 0.02 s                  | `-(2 others)\n"
	     " 11   10 4.0 MB 0.04 s  5.00 1.5 s    0 `-again\n"
	     " 15   11 5.0 MB 0.05 s  5.10 1.5 s    0   `-its\n",
	     "tree: a pid that comes again, and the others summed up");
	l = (struct list){ rows, COUNT(rows) };
	in.all = true;
	form(&kind_tree, &in);
	OK(strstr(text, "`-small") && !strstr(text, "other"), "tree: all");
	l = (struct list){ rows, COUNT(rows) };
	rows[0]->peak_rss_bytes = rows[0]->cpu_ns = UNKNOWN;
	rows[0]->started_ns = TIME_NONE;
	rows[0]->exit_code = UNKNOWN;
	memcpy(rows[1]->comm, "fifteen-letters", 16);
	rows[1]->exit_code = UNKNOWN;
	rows[1]->exit_signal = 9;
	in.width = 54;
	form(&kind_table, &in);
	for (const char *line = behind_text(text); line && *line; line = strchr(line, '\n') + 1)
		OK(strcspn(line, "\n") <= 54, "table: as wide as the terminal");
	OK(strstr(text, "signal 9") != NULL, "table: how it ended");
	l = (struct list){ rows, COUNT(rows) };
	in.width = 0;
	form(&kind_table, &in);
	OK(strstr(text, " 12   11                     0 late") == NULL &&
		   strstr(text, " 12   11 ") != NULL,
	   "0.3 table: what is not known is empty");
	for (size_t i = 0; i < COUNT(rows); i++)
		process_unref(rows[i]);
	summary_free(s);
}

int main(void)
{
	other_tools();
	trees();
	return tap_done();
}
