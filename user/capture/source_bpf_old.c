// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_old - kernels before 5.19: an object of their own, and what only user space can tell
 */
#include "capture/source_bpf.h"

#include <errno.h>
#include <stdlib.h>

#include "exitmeter_old.skel.h"

/* The same programs, maps and variables (the build compares them), from another object's bytes. */
struct exitmeter_bpf *source_bpf_object(bool old, const struct bpf_object_open_opts *o)
{
	struct exitmeter_bpf *skel;
	int err;

	if (!old)
		return exitmeter_bpf__open_opts(o);
	skel = calloc(1, sizeof(*skel));
	err = skel ? exitmeter_bpf__create_skeleton(skel) : -ENOMEM;
	if (!err) {
		skel->skeleton->data =
			(void *)exitmeter_old_bpf__elf_bytes(&skel->skeleton->data_sz);
		err = bpf_object__open_skeleton(skel->skeleton, o);
	}
	if (!err)
		return skel;
	exitmeter_bpf__destroy(skel);
	errno = -err;
	return NULL;
}

#define FIELD(member) (offsetof(struct run_totals, member) / sizeof(__u64))

static void count(struct most *m, int32_t delta)
{
	m->now += delta;
	if (m->now > m->most)
		m->most = m->now;
}

int source_bpf_count(struct source_bpf *s, const struct count_event *e)
{
	if (e->field == FIELD(processes))
		count(&s->processes, e->delta);
	else if (e->field == FIELD(threads))
		count(&s->threads, e->delta);
	return 0;
}

uint64_t source_bpf_old_largest(const struct source_bpf *s)
{
	uint64_t largest = 0;

	if (!s->skel)
		return s->tree->largest_peak_pages;
	for (int i = 0; i < s->n_cpus; i++)
		if (s->skel->bss->slots[i].largest_peak_pages > largest)
			largest = s->skel->bss->slots[i].largest_peak_pages;
	return largest;
}

void source_bpf_old_totals(const struct source_bpf *s, struct totals *ret)
{
	bool counted = !s->drops->count_events;

	ret->largest_peak_bytes = source_bpf_pages(s, source_bpf_old_largest(s));
	ret->processes_max = counted ? s->processes.most : UNKNOWN;
	ret->threads_max = counted ? s->threads.most : UNKNOWN;
	ret->lower_bytes = ret->upper_bytes = UNKNOWN;
	ret->lower_max_bytes = ret->upper_max_bytes = ret->lower_max_at_ns = UNKNOWN;
	ret->interval_max_bytes = UNKNOWN;
}
