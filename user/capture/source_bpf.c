// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/lockdown.h"
#include "capture/probe.h"
#include "log.h"
#include "procfs/scan.h"
#include "units.h"

void source_bpf_wake(struct source_bpf *s)
{
	s->quiet = 0;
	if (!s->idle)
		return;
	s->idle = false;
	if (s->skel)
		s->skel->bss->tree_idle = 0;
}

static struct source_bpf *self(struct source *base)
{
	return (struct source_bpf *)base;
}

/* --- second copies ------------------------------------------------------------------------- */

static uint64_t misses_of(struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int fd = bpf_program__fd(prog);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return info.recursion_misses;
}

uint64_t source_bpf_skips(const struct source_bpf *s)
{
	const struct exitmeter_bpf *const all[] = { s->skel, s->late, s->beside, s->probes };
	struct bpf_program *prog;
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i])
			continue;
		bpf_object__for_each_program(prog, all[i]->obj) n += misses_of(prog);
	}
	return n;
}

struct exitmeter_bpf *source_bpf_more(struct source_bpf *s, const char *const names[])
{
	LIBBPF_OPTS(bpf_object_open_opts, o,
		    .btf_custom_path = s->btf.fd >= 0 ? s->btf.path : NULL);
	struct exitmeter_bpf *skel = source_bpf_object(s->old, &o);
	struct bpf_program *prog;
	struct bpf_map *map, *ours;

	if (!skel)
		return NULL;
	bpf_object__for_each_program(prog, skel->obj)
	{
		bool wanted = false;

		for (size_t i = 0; names[i]; i++)
			wanted |= !strcmp(bpf_program__name(prog), names[i]);
		bpf_program__set_autoload(prog, wanted);
	}
	bpf_object__for_each_map(map, skel->obj)
	{
		ours = bpf_object__find_map_by_name(s->skel->obj, bpf_map__name(map));
		if (ours && !bpf_map__autocreate(ours))
			bpf_map__set_autocreate(map, false);
		else if (!ours || bpf_map__reuse_fd(map, bpf_map__fd(ours)))
			goto fail;
	}
	if (!exitmeter_bpf__load(skel))
		return skel;
fail:
	exitmeter_bpf__destroy(skel);
	return NULL;
}

/*
 * Kernels from 7.0 on skip a preempted program; what one copy misses the other sees.  Loaded only
 * once that happened, since it doubles what a start costs.  Failing to is no worse than before.
 */
void source_bpf_open_beside(struct source_bpf *s)
{
	static const char *const names[] = { "on_image_again", "on_exit_again", NULL };

	s->beside = source_bpf_more(s, names);
	if (!s->beside)
		return;
	if (!s->probes && source_bpf_attach_classic(s, s->beside->progs.on_exit_again, "sched",
						    "sched_process_exit"))
		source_bpf_attach(s, s->beside->progs.on_image_again, "sched_process_exit");
	source_bpf_attach(s, s->beside->progs.on_image_again, "sched_process_exec");
	source_bpf_attach(s, s->beside->progs.on_image_again, "sched_prepare_exec");
}

bool source_bpf_tick_is_timer(void)
{
	struct timespec resolution;

	return !clock_getres(CLOCK_MONOTONIC, &resolution) && resolution.tv_nsec < NS_PER_MS;
}

void source_bpf_open_late(struct source_bpf *s)
{
	static const char *const names[] = { "on_mark_victim", "on_tick", NULL };

	s->late_tried = true;
	s->late = source_bpf_more(s,
				  s->tick_wanted ? names : (const char *const[]){ names[0], NULL });
	if (s->late && !source_bpf_attach(s, s->late->progs.on_mark_victim, "mark_victim"))
		s->oom_evidence_ns = clock_ns(CLOCK_MONOTONIC);
	if (!s->late || !s->tick_wanted || !source_bpf_tick_is_timer() ||
	    source_bpf_attach(s, s->late->progs.on_tick, "hrtimer_expire_exit"))
		s->base.info.samples = "bpf+proc";
}

/* --- running ------------------------------------------------------------------------------- */

uint64_t source_bpf_cpu_ns(const struct source_bpf *s)
{
	uint64_t ended = s->tree->cpu_ns, slices = 0;

	for (int i = 0; i < s->n_cpus; i++)
		slices += s->skel->bss->slots[i].cpu_ns;
	return slices > ended ? slices : ended;
}

static int bpf_drain(struct source *base)
{
	struct source_bpf *s = self(base);
	const struct run_totals *tree = &s->skel->bss->tree;
	int n = ring_buffer__consume(s->ring);
	uint64_t cpu_ns;

	if (n >= 0)
		n = source_bpf_take_kept(s) ? -1 : n;
	if (n < 0)
		return s->err ? s->err : n;
	source_bpf_compat_follow(s, true);
	if (!s->late_tried && clock_ns(CLOCK_MONOTONIC) - s->opened_ns >= LATE_MS * NS_PER_MS)
		source_bpf_open_late(s);
	if (!s->beside && tree->repaired)
		source_bpf_open_beside(s);
	cpu_ns = source_bpf_cpu_ns(s);
	if (n > 0 || cpu_ns != s->seen_cpu_ns) {
		s->seen_cpu_ns = cpu_ns;
		source_bpf_wake(s);
	} else if (!s->idle && ++s->quiet >= QUIET_POLLS) {
		/* From here a switch to one of the tree's tasks sends an event that wakes us. */
		s->idle = true;
		__atomic_store_n(&s->skel->bss->tree_idle, 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void totals_from(struct source_bpf *s, struct totals *ret)
{
	source_bpf_totals(s, s->tree, (int64_t)source_bpf_cpu_ns(s), ret);
}

uint64_t source_bpf_take_interval(struct source_bpf *s)
{
	return __atomic_exchange_n(&s->skel->bss->tree.interval_max_pages, 0, __ATOMIC_RELAXED);
}

/* The interval's maximum is given once. */
static void take_interval(struct source_bpf *s, struct totals *ret)
{
	int64_t most = source_bpf_pages(s, source_bpf_take_interval(s));

	if (!s->old)
		ret->interval_max_bytes = most > ret->lower_bytes ? most : ret->lower_bytes;
}

int source_bpf_run(struct source_bpf *s, uint64_t what)
{
	__u64 args[2] = { what };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(bpf_program__fd(s->image), &run);
}

int source_bpf_settle(struct source_bpf *s)
{
	return source_bpf_run(s, EVENT_RUN_SETTLE);
}

static int bpf_sample(struct source *base, struct tree_sample *sample)
{
	struct totals *ret = &sample->totals;
	struct source_bpf *s = self(base);

	sample->settled = !s->old && !source_bpf_run(s, EVENT_RUN_SETTLE);
	sample->whole = sample->settled && !s->skel->bss->tree.unread_mms;
	totals_from(s, ret);
	take_interval(s, ret);
	if (ret->cpu_ns != (int64_t)s->seen_cpu_ns)
		source_bpf_wake(s);
	return 0;
}

void source_bpf_pause(int64_t ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

/*
 * From here on the programs change nothing, so that what they hold is of one moment.  Those that
 * run right now are waited for: membarrier waits for every reader, as they are.
 */
void source_bpf_close_metering(struct source_bpf *s)
{
	__atomic_store_n(&s->skel->bss->closed, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&s->skel->bss->membership_number, 2, __ATOMIC_SEQ_CST);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		source_bpf_pause(5 * NS_PER_MS);
}

static int bpf_finish(struct source *base, bool root_ended, struct totals *ret)
{
	struct source_bpf *s = self(base);
	volatile const struct run_totals *tree = &s->skel->bss->tree;
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SETTLE_MS * NS_PER_MS,
		pause = PAUSE_LEAST_NS;
	bool missing = false;
	int err = 0;

	/* The root's last switch, which sends its record, may come after wait4; and that of others.
	 */
	while (!err && !missing &&
	       ((root_ended && !s->root_recorded) || tree->exits > tree->records)) {
		if (s->attaching && !root_ended)
			break; /* some always are on their way */
		source_bpf_pause(pause);
		if (pause < NS_PER_MS)
			pause *= 2;
		err = bpf_drain(base);
		missing = clock_ns(CLOCK_MONOTONIC) >= deadline;
	}
	if (!err && (tree->processes || tree->exits > tree->records))
		source_bpf_close_metering(s);
	if (!err)
		err = bpf_drain(base);
	source_bpf_run(
		s, EVENT_RUN_SETTLE); /* of those that live on; without it the bounds still hold */
	source_bpf_seed_count(s);
	if (!err)
		err = source_bpf_hand_on_living(s);
	totals_from(s, ret);
	take_interval(s, ret);
	if (s->skel->bss->closed) /* who has begun to end has not ended yet */
		ret->exits = ret->records;
	if (!err && missing)
		err = -ETIME;
	return err;
}

static int bpf_poll_fd(struct source *base)
{
	return ring_buffer__epoll_fd(self(base)->ring);
}

static int bpf_poll_ms(struct source *base)
{
	const struct source_bpf *s = self(base);

	if (!s->late_tried)
		return LATE_MS;
	return s->idle ? -1 : POLL_MS;
}

size_t source_bpf_losses(const struct source_bpf *s, uint64_t skips, struct loss *out, size_t cap)
{
	const struct drop_counts *d = s->drops;
	const struct run_totals *t = s->tree;
	const struct loss all[] = {
		{ "fork-records", d->fork_events, false },
		{ "exec-records", d->exec_events, false },
		{ "exit-records", d->exit_events + s->unfetched, false },
		{ "oom-records", d->oom_events, false },
		{ "processes-unfollowed", d->processes_unfollowed, UPPER_NONE },
		{ "address-spaces-untracked", d->mms_untracked, true },
		{ "stale-entries", d->stale_entries, true },
		{ "map-deletes", d->delete_failed, true },
		{ "tail-calls", d->moments, true },
		{ "rss-counted-by-thread", s->split_rss, true },
		{ "real-time-slices", d->slices, false },
		{ "processes-and-threads-uncounted", d->count_events, false },
		{ "claims", d->claims, true },
		{ "children-without-a-run", d->runs, false },
		{ "births-unwatched", d->births, true },
		{ "threads-untracked", d->threads, false },
		{ "processes-missed-at-attach", d->missed, UPPER_NONE },
		{ "busy-address-spaces", t->lock_missed, true },
		{ "peaks-bounded", s->bounded, false },
		{ "program-skips", skips, false },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && n < cap; i++)
		if (all[i].count)
			out[n++] = all[i];
	return n;
}

static size_t bpf_losses(struct source *base, struct loss *out, size_t cap)
{
	return source_bpf_losses(self(base), source_bpf_skips(self(base)), out, cap);
}

static void bpf_reaped(struct source *base, pid_t pid, int status, const struct rusage *ru)
{
	(void)base;
	(void)pid;
	(void)status;
	(void)ru;
}

static void bpf_close(struct source *base)
{
	struct source_bpf *s = self(base);

	for (size_t i = 0; i < s->n_links; i++)
		bpf_link__destroy(s->links[i]);
	ring_buffer__free(s->ring);
	source_bpf_runs_close(s);
	exitmeter_bpf__destroy(s->late);
	exitmeter_bpf__destroy(s->beside);
	bpf_link__destroy(s->seed_link);
	exitmeter_bpf__destroy(s->seed);
	exitmeter_bpf__destroy(s->probes);
	exitmeter_bpf__destroy(s->skel);
	kernel_btf_close(&s->btf);
	free(s);
}

const struct source_ops source_bpf_ops = {
	.drain = bpf_drain,
	.sample = bpf_sample,
	.finish = bpf_finish,
	.poll_fd = bpf_poll_fd,
	.poll_ms = bpf_poll_ms,
	.losses = bpf_losses,
	.reaped = bpf_reaped,
	.run_totals = source_bpf_run_totals,
	.run_release = source_bpf_run_release,
	.close = bpf_close,
};
