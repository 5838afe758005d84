// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compat - one run in the forms of workflow managers and benchmark tools (INTERFACE 6)
 *
 * What is not known is left out, or is what the form has for it.
 */
#include <math.h>
#include <string.h>

#include "format/format.h"
#include "format/name.h"
#include "report/gather.h"
#include "units.h"

#define MIB         1048576.0
#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)

/* --- Snakemake's benchmark ------------------------------------------------------------------ */

static void put_decimal(FILE *out, bool known, double v)
{
	if (known)
		fprintf(out, "\t%.2f", v);
	else
		fputs("\t-", out);
}

static void put_mib(FILE *out, int64_t bytes)
{
	put_decimal(out, bytes >= 0, (double)bytes / MIB);
}

/* As Python prints a timedelta. */
static void put_hms(FILE *out, int64_t ns)
{
	long long s = ns / NS_PER_S, days = s / 86400;

	putc('\t', out);
	if (ns < 0) {
		putc('-', out);
		return;
	}
	if (days)
		fprintf(out, "%lld day%s, ", days, days == 1 ? "" : "s");
	s %= 86400;
	fprintf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

/* Of a tree the sum of virtual sizes at one moment is not known, of one process its peak is. */
static int64_t peak_vm(const struct summary *s)
{
	return s->usage.total_processes == 1 && s->root ? s->root->peak_vm_bytes : UNKNOWN;
}

static void put_snakemake(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;

	fputs("s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n",
	      out);
	if (s->run.wall_ns < 0)
		putc('-', out);
	else
		fprintf(out, "%.4f", SECONDS(s->run.wall_ns));
	put_hms(out, s->run.wall_ns);
	put_mib(out, u->peak_lower_bytes);
	put_mib(out, peak_vm(s));
	put_mib(out, UNKNOWN);
	put_mib(out, u->peak_pss_bytes);
	put_mib(out, u->io.read_bytes);
	put_mib(out, u->io.write_bytes);
	put_decimal(out, u->mean_cpus >= 0, u->mean_cpus * 100);
	put_decimal(out, u->cpu_ns >= 0, SECONDS(u->cpu_ns));
	putc('\n', out);
}

/* --- Nextflow's .command.trace -------------------------------------------------------------- */

static void put_count(FILE *out, const char *name, int64_t v)
{
	if (v >= 0)
		fprintf(out, "%s=%lld\n", name, (long long)v);
}

static void put_kib(FILE *out, const char *name, int64_t bytes)
{
	put_count(out, name, bytes < 0 ? UNKNOWN : bytes / 1024);
}

/* A share in tenths of a percent. */
static int64_t per_mille(double part, double of)
{
	return part >= 0 && of > 0 ? llround(part / of * 1000) : UNKNOWN;
}

/* Its rss is the largest sum of RSS, its peak_rss the largest sum of high-water marks. */
static void put_nextflow(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;
	char model[256];

	fputs("nextflow.trace/v2\n", out);
	put_count(out, "realtime", s->run.wall_ns < 0 ? UNKNOWN : s->run.wall_ns / NS_PER_MS);
	put_count(out, "%cpu", per_mille((double)u->cpu_ns, (double)s->run.wall_ns));
	if (s->env.cpu_model) {
		plain_text(s->env.cpu_model, strlen(s->env.cpu_model), model, sizeof(model));
		fprintf(out, "cpu_model=%s\n", model);
	}
	put_count(out, "rchar", u->io.rchar);
	put_count(out, "wchar", u->io.wchar);
	put_count(out, "syscr", u->io.syscr);
	put_count(out, "syscw", u->io.syscw);
	put_count(out, "read_bytes", u->io.read_bytes);
	put_count(out, "write_bytes", u->io.write_bytes);
	put_count(out, "%mem", per_mille((double)u->peak_lower_bytes, (double)s->env.memory_bytes));
	put_kib(out, "vmem", peak_vm(s));
	put_kib(out, "rss", u->peak_lower_bytes);
	put_kib(out, "peak_vmem", peak_vm(s));
	put_kib(out, "peak_rss", u->peak_upper_bytes);
	put_count(out, "vol_ctxt", u->voluntary_switches);
	put_count(out, "inv_ctxt", u->involuntary_switches);
}

/* --- benchexec's runexec -------------------------------------------------------------------- */

static void put_unit(FILE *out, const char *name, int64_t v, const char *unit)
{
	if (v >= 0)
		fprintf(out, "%s=%lld%s\n", name, (long long)v, unit);
}

static void put_seconds(FILE *out, const char *name, int64_t ns)
{
	if (ns >= 0)
		fprintf(out, "%s=%lld.%09llds\n", name, (long long)(ns / NS_PER_S),
			(long long)(ns % NS_PER_S));
}

/* Its memory is the cgroup's peak where there was one. */
static void put_benchexec(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;

	put_seconds(out, "walltime", s->run.wall_ns);
	put_seconds(out, "cputime", u->cpu_ns);
	put_unit(out, "memory",
		 u->cgroup_peak_bytes >= 0 ? u->cgroup_peak_bytes : u->peak_lower_bytes, "B");
	put_unit(out, "blkio-read", u->io.read_bytes, "B");
	put_unit(out, "blkio-write", u->io.write_bytes, "B");
	put_unit(out, "returnvalue", s->run.exit_code, "");
	put_unit(out, "exitsignal", s->run.exit_signal, "");
}

static int put_text(void (*write)(FILE *, const struct summary *), const struct format_input *in,
		    const struct document_sink *to)
{
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	write(g.f, in->summary);
	return gather_close(&g, 0, to);
}

int format_snakemake(const struct format_input *in, const struct document_sink *to)
{
	return put_text(put_snakemake, in, to);
}

int format_nextflow(const struct format_input *in, const struct document_sink *to)
{
	return put_text(put_nextflow, in, to);
}

int format_benchexec(const struct format_input *in, const struct document_sink *to)
{
	return put_text(put_benchexec, in, to);
}
