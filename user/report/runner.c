// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/runner.h"

#include <math.h>
#include <string.h>

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

static void resources(struct json *j, const struct stretch *s, const char *io_source)
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
	io(j, &s->used.io, io_source);
	json_close(j);
}

static bool comes_again(const struct stretch *s)
{
	for (const struct stretch *later = s->next; later; later = later->next)
		if (!strcmp(later->name, s->name))
			return true;
	return false;
}

int document_runner(const struct summary *s, const struct document_sink *to)
{
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
		resources(&j, a, s->usage.io_source);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	json_newline(&j);
	err = j.err ? j.err : to->put(to->ctx, j.buf, j.len);
	json_free(&j);
	return err;
}
