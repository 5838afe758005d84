// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runner - attempts as a benchmark runner's tests, in its own names (SPEC 3.1, R-10 to R-12)
 *
 * {"tests":{"ID":{"resources":{...}}}} and a newline: MiB with one decimal, ms as integers, what is
 * not known left out.  Of attempts of one name the last counts.
 */

#include <math.h>
#include <string.h>

#include "format/format.h"
#include "journal/json.h"
#include "model/request.h"
#include "units.h"

#define MIB 1048576.0

static void mib(struct json *j, const char *key, int64_t bytes)
{
	if (bytes < 0)
		return;
	json_key(j, key);
	json_double(j, round((double)bytes / MIB * 10) / 10);
}

static void number(struct json *j, const char *key, int64_t v)
{
	if (v < 0)
		return;
	json_key(j, key);
	json_int(j, v);
}

static void text(struct json *j, const char *key, const char *v)
{
	if (!v)
		return;
	json_key(j, key);
	json_cstring(j, v);
}

static void ms(struct json *j, const char *key, int64_t ns)
{
	number(j, key, ns < 0 ? UNKNOWN : (ns + NS_PER_MS / 2) / NS_PER_MS);
}

static void rss_split(struct json *j, const struct rss_split *split)
{
	if (split->anon_bytes < 0)
		return;
	json_key(j, "rssSplitMB");
	json_open(j);
	mib(j, "anon", split->anon_bytes);
	mib(j, "file", split->file_bytes);
	mib(j, "shmem", split->shmem_bytes);
	json_close(j);
}

/* What was resident after its setup, its first and its last run: R-4, by the phases' names. */
static void rss_at(struct json *j, const struct stretch *s)
{
	int64_t setup = UNKNOWN, first = UNKNOWN, last = UNKNOWN;

	for (size_t i = 0; i < s->n_rss_at; i++) {
		const struct rss_at *at = &s->rss_at[i];
		uint64_t run, runs;

		if (!strcmp(at->name, "setup"))
			setup = at->rss_bytes;
		if (!name_is_run(at->name, strlen(at->name), &run, &runs))
			continue;
		if (run == 1)
			first = at->rss_bytes;
		if (run == runs)
			last = at->rss_bytes;
	}
	if (setup < 0 && first < 0 && last < 0)
		return;
	json_key(j, "rssMB");
	json_open(j);
	mib(j, "afterSetup", setup);
	mib(j, "afterFirstRun", first);
	mib(j, "afterLastRun", last);
	json_close(j);
}

static void cpu(struct json *j, const struct counters *c)
{
	if (c->cpu_user_ns < 0 && c->cpu_system_ns < 0)
		return;
	json_key(j, "cpuMs");
	json_open(j);
	ms(j, "user", c->cpu_user_ns);
	ms(j, "sys", c->cpu_system_ns);
	json_close(j);
}

static void io(struct json *j, const struct io_counts *c, const char *source)
{
	if (c->read_bytes < 0 && c->write_bytes < 0)
		return;
	json_key(j, "io");
	json_open(j);
	text(j, "source", source);
	number(j, "read_bytes", c->read_bytes);
	number(j, "write_bytes", c->write_bytes);
	json_close(j);
}

static void disk(struct json *j, const struct disk *d)
{
	if (!d || (d->apparent_bytes < 0 && d->allocated_bytes < 0))
		return;
	json_key(j, "diskMB");
	json_open(j);
	mib(j, "apparent", d->apparent_bytes);
	mib(j, "allocated", d->allocated_bytes);
	json_close(j);
}

/* Of the run: of a test as well where that was the only one. */
static const struct disk *run_disk(const struct summary *s)
{
	return s->n_disks == 1 ? s->disks : NULL;
}

static void resources(struct json *j, const struct stretch *s, const struct summary *of, bool alone)
{
	json_key(j, "resources");
	json_open(j);
	mib(j, "peakRssUpperBoundMB", s->peak_sum_bytes);
	text(j, "peakSource", peak_source_name(s->sum_source));
	rss_split(j, &s->split);
	rss_at(j, s);
	cpu(j, &s->used);
	number(j, "involuntaryCtxSwitches", s->used.involuntary_switches);
	number(j, "threads", s->max_threads);
	io(j, &s->used.io, of->usage.io_source);
	if (s->disk.path)
		disk(j, &s->disk);
	else if (alone)
		disk(j, run_disk(of));
	json_close(j);
}

static bool comes_again(const struct stretch *s)
{
	for (const struct stretch *later = s->next; later; later = later->next)
		if (!strcmp(later->name, s->name))
			return true;
	return false;
}

/* --- the machine --------------------------------------------------------------------------- */

static void decimal(struct json *j, const char *key, double v)
{
	if (v < 0)
		return;
	json_key(j, key);
	json_double(j, v);
}

static void load(struct json *j, const char *key, const double v[LOADS])
{
	if (v[0] < 0)
		return;
	json_key(j, key);
	json_array(j);
	for (int i = 0; i < LOADS; i++)
		json_double(j, v[i]);
	json_array_end(j);
}

static void load_average(struct json *j, const struct env *e)
{
	if (e->load_start[0] < 0 && e->load_end[0] < 0)
		return;
	json_key(j, "loadAverage");
	json_open(j);
	load(j, "start", e->load_start);
	load(j, "end", e->load_end);
	json_close(j);
}

static void cgroup(struct json *j, const struct cgroup_facts *c)
{
	if (c->version < 0)
		return;
	json_key(j, "cgroup");
	json_open(j);
	number(j, "version", c->version);
	decimal(j, "cpuLimit", c->cpu_limit);
	mib(j, "memoryLimitMB", c->memory_limit_bytes);
	json_close(j);
}

static void pressure(struct json *j, const char *key, const struct psi *p)
{
	if (p->some_ns < 0 && p->full_ns < 0)
		return;
	json_key(j, key);
	json_open(j);
	ms(j, "some", p->some_ns);
	ms(j, "full", p->full_ns);
	json_close(j);
}

static void pressures(struct json *j, const struct env *e)
{
	if (!psi_known(e))
		return;
	json_key(j, "psiMs");
	json_open(j);
	pressure(j, "cpu", &e->psi_cpu);
	pressure(j, "memory", &e->psi_memory);
	pressure(j, "io", &e->psi_io);
	json_close(j);
}

/* in the order of the summary. */
static void environment(struct json *j, const struct env *e)
{
	json_key(j, "env");
	json_open(j);
	text(j, "source", e->source);
	text(j, "kernel", e->kernel);
	text(j, "machine", e->machine);
	text(j, "governor", e->governor);
	load_average(j, e);
	ms(j, "stealMs", e->steal_ns);
	text(j, "workFsType", e->work_fs_type);
	text(j, "schedClass", e->sched_class);
	number(j, "schedPriority", e->sched_priority);
	number(j, "cpus", e->cpus);
	number(j, "affinityCpus", e->affinity_cpus);
	text(j, "cpuModel", e->cpu_model);
	mib(j, "memoryMB", e->memory_bytes);
	number(j, "pageSize", e->page_size);
	number(j, "clockTicks", e->clock_ticks);
	cgroup(j, &e->cgroup);
	text(j, "thp", e->thp);
	pressures(j, e);
	text(j, "container", e->container);
	text(j, "bootId", e->boot_id);
	json_close(j);
}

/* --- the document -------------------------------------------------------------------------- */

static size_t tests_of(const struct summary *s)
{
	size_t n = 0;

	for (const struct stretch *a = s->attempts.first; a; a = a->next)
		n += !comes_again(a);
	return n;
}

int format_runner(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	size_t tests = tests_of(s);
	struct json j;
	int err;

	json_init(&j);
	json_open(&j);
	json_key(&j, "tests");
	json_open(&j);
	for (const struct stretch *a = s->attempts.first; a; a = a->next) {
		if (comes_again(a))
			continue;
		/* A user's word as a key: escaped. */
		json_cstring(&j, a->name);
		j.comma = false;
		json_raw(&j, ":", 1);
		j.comma = false;
		json_open(&j);
		resources(&j, a, s, tests == 1);
		json_close(&j);
	}
	json_close(&j);
	environment(&j, &s->env);
	if (tests != 1)
		disk(&j, run_disk(s));
	json_close(&j);
	json_newline(&j);
	err = j.err ? j.err : to->put(to->ctx, j.buf, j.len);
	json_free(&j);
	return err;
}
