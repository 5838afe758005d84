// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_runs - the totals of each run of a tree that is split
 */
#include "capture/source_bpf.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define RUNS_BYTES ((size_t)RUNS_MAX * sizeof(struct run_totals))

_Static_assert(sizeof(struct run_totals) % 8 == 0, "an array map's elements lie side by side");

int source_bpf_runs_open(struct source_bpf *s)
{
	void *at;

	if (!s->split)
		return 0;
	at = mmap(NULL, RUNS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		  bpf_map__fd(s->skel->maps.runs), 0);
	if (at == MAP_FAILED)
		return -errno;
	s->runs = at;
	return 0;
}

void source_bpf_runs_close(struct source_bpf *s)
{
	if (s->runs)
		munmap(s->runs, RUNS_BYTES);
	s->runs = NULL;
}

static struct run_totals *run_at(struct source *base, uint32_t run)
{
	struct source_bpf *s = (struct source_bpf *)base;

	return s->runs && run && run < RUNS_MAX ? &s->runs[run] : NULL;
}

int source_bpf_run_totals(struct source *base, uint32_t run, bool take, struct totals *ret)
{
	struct run_totals *t = run_at(base, run);
	uint64_t cpu_ns, interval;

	if (!t)
		return -ENOTSUP;
	cpu_ns = t->slices_ns > t->cpu_ns ? t->slices_ns : t->cpu_ns;
	interval = take ? __atomic_exchange_n(&t->interval_max_pages, 0, __ATOMIC_RELAXED) : 0;
	source_bpf_totals((struct source_bpf *)base, t, (int64_t)cpu_ns, ret);
	ret->interval_max_bytes = source_bpf_pages((struct source_bpf *)base, interval);
	if (ret->interval_max_bytes < ret->lower_bytes)
		ret->interval_max_bytes = ret->lower_bytes;
	return 0;
}

/* claimed last: from then on it is another's. */
void source_bpf_run_release(struct source *base, uint32_t run)
{
	struct run_totals *t = run_at(base, run);

	if (!t)
		return;
	memset(t, 0, offsetof(struct run_totals, claimed));
	__atomic_store_n(&t->claimed, 0, __ATOMIC_RELEASE);
}
