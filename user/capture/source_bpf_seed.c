// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_seed - attaching: the tree that is there is taken in by the task iterator
 */
#include "capture/source_bpf.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "log.h"

#define PASSES_MAX 1000
/*
 * So many passes that add nobody end it.  One might meet an orphan's orphan just while its parent,
 * born before the hooks were live, is about to end; a moment later it is an orphan itself, and the
 * parent link leads into the tree.
 */
#define EMPTY_PASSES 4
#define PAUSE_NS     500000

/* One pass over all tasks of our pid namespace. */
static int pass(struct source_bpf *s, uint32_t mode)
{
	int fd, err = 0;
	char none[64];
	ssize_t n;

	s->skel->bss->seed_mode = mode;
	fd = bpf_iter_create(bpf_link__fd(s->seed_link));
	if (fd < 0)
		return -errno;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

int source_bpf_seed_begin(struct source_bpf *s)
{
	static const char *const names[] = { "on_task", NULL };

	s->seed = source_bpf_more(s, names);
	if (!s->seed)
		return -ENOPKG;
	s->seed_link = bpf_program__attach_iter(s->seed->progs.on_task, NULL);
	if (!s->seed_link)
		return -ENOPKG;
	for (size_t i = 0; i < s->n_roots; i++)
		s->skel->bss->seed_roots[i] = (uint32_t)s->roots[i];
	s->skel->bss->seed_roots_n = (uint32_t)s->n_roots;
	s->skel->bss->seeding = 1;
	return pass(s, SEED_LOOK);
}

int source_bpf_seed_take(struct source_bpf *s)
{
	volatile __u64 *added = &s->skel->bss->seed_added;
	int err = pass(s, SEED_LOOK);
	const struct timespec moment = { .tv_nsec = PAUSE_NS };
	uint64_t before;
	int n = 0, empty = 0;

	while (!err && empty < EMPTY_PASSES && n++ < PASSES_MAX) {
		before = *added;
		err = pass(s, SEED_TAKE);
		empty = *added == before ? empty + 1 : 0;
		if (empty)
			nanosleep(&moment, NULL);
	}
	s->skel->bss->seeding = 0;
	log_debug("task iterator: %d passes, %llu processes", n,
		  (unsigned long long)s->skel->bss->tree.initial);
	if (!err && !s->skel->bss->tree.initial)
		err = -ECHILD;
	return err;
}

void source_bpf_seed_count(struct source_bpf *s)
{
	if (!s->seed_link || !s->skel->bss->closed)
		return;
	source_bpf_update_clocks(s);
	s->counted = !pass(s, SEED_COUNT);
}
