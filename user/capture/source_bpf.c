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

#define RING_BYTES        (1u << 20)
#define RING_BYTES_ATTACH (8u << 20) /* a server's thousands may be ended at once */
#define MAP_ENTRIES       16384      /* without preallocation an empty map costs next to nothing */
#define MAP_ENTRIES_PRE   8192       /* kernels that must preallocate */
#define POLL_MS           40
#define QUIET_POLLS       3 /* then the tree is idle */
#define SETTLE_MS         1000
#define PAUSE_LEAST_NS    (20 * NS_PER_US)
#define LATE_MS           8 /* a command shorter than that does not pay for what it cannot use */

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

void source_bpf_totals(const struct source_bpf *s, const struct run_totals *t, int64_t cpu_ns,
		       struct totals *ret)
{
	*ret = (struct totals){
		.initial = s->attaching ? (int64_t)t->initial : 1,
		.baseline_cpu_ns = s->attaching ? (int64_t)t->before_cpu_ns : UNKNOWN,
		.forks = (int64_t)t->forks,
		.exits = (int64_t)t->exits,
		.records = (int64_t)t->records,
		.lost_exits = (int64_t)t->lost_exits,
		.repaired = (int64_t)t->repaired,
		.processes = (int64_t)t->processes,
		.processes_max = (int64_t)t->processes_max,
		.threads = (int64_t)t->threads,
		.threads_max = (int64_t)t->threads_max,
		.cpu_ns = cpu_ns,
		.minor_faults = (int64_t)t->minor_faults,
		.major_faults = (int64_t)t->major_faults,
		.voluntary_switches = (int64_t)t->voluntary_switches,
		.involuntary_switches = (int64_t)t->involuntary_switches,
		.io = { .read_bytes = (int64_t)t->read_bytes,
			.write_bytes = (int64_t)t->write_bytes,
			.cancelled_write_bytes = (int64_t)t->cancelled_write_bytes,
			.rchar = (int64_t)t->rchar,
			.wchar = (int64_t)t->wchar,
			.syscr = (int64_t)t->syscr,
			.syscw = (int64_t)t->syscw },
		.largest_peak_bytes = source_bpf_pages(s, t->largest_peak_pages),
		.sum_peak_bytes = source_bpf_pages(s, t->sum_peak_pages),
		.outside_bytes = source_bpf_pages(s, t->outside_pages),
		.lower_bytes = source_bpf_pages(s, t->lower_pages),
		.upper_bytes = source_bpf_pages(s, t->upper_pages),
		.lower_max_bytes = source_bpf_pages(s, t->lower_max_pages),
		.upper_max_bytes = source_bpf_pages(s, t->upper_max_pages),
		.lower_max_at_ns = (int64_t)t->lower_max_at_ns,
		.epoch = t->epoch,
	};
	cpu_split(ret->cpu_ns, (int64_t)t->utime_ns, (int64_t)t->stime_ns, &ret->cpu_user_ns,
		  &ret->cpu_system_ns);
	if (s->old)
		source_bpf_old_totals(s, ret);
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

static int test_run(struct source_bpf *s, uint64_t what)
{
	__u64 args[2] = { what };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(bpf_program__fd(s->image), &run);
}

int source_bpf_settle(struct source_bpf *s)
{
	return test_run(s, EVENT_RUN_SETTLE);
}

static int bpf_sample(struct source *base, struct tree_sample *sample)
{
	struct totals *ret = &sample->totals;
	struct source_bpf *s = self(base);

	sample->settled = !s->old && !test_run(s, EVENT_RUN_SETTLE);
	sample->whole = sample->settled && !s->skel->bss->tree.unread_mms;
	totals_from(s, ret);
	take_interval(s, ret);
	if (ret->cpu_ns != (int64_t)s->seen_cpu_ns)
		source_bpf_wake(s);
	return 0;
}

static void pause_ns(int64_t ns)
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
		pause_ns(5 * NS_PER_MS);
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
		pause_ns(pause);
		if (pause < NS_PER_MS)
			pause *= 2;
		err = bpf_drain(base);
		missing = clock_ns(CLOCK_MONOTONIC) >= deadline;
	}
	if (!err && (tree->processes || tree->exits > tree->records))
		source_bpf_close_metering(s);
	if (!err)
		err = bpf_drain(base);
	test_run(s, EVENT_RUN_SETTLE); /* of those that live on; without it the bounds still hold */
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
		{ "exit-records", d->exit_events, false },
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

static const struct source_ops bpf_ops = {
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

/* --- opening ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 0))) static int say(enum libbpf_print_level level,
						     const char *format, va_list args)
{
	return level != LIBBPF_DEBUG ? vfprintf(stderr, format, args) : 0;
}

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Knobs of the tests (tests/README.md). */
static uint32_t test_size(const char *name, uint32_t normal)
{
	const char *text = getenv(name);
	unsigned long v = text ? strtoul(text, NULL, 10) : 0;

	return v && v <= UINT32_MAX ? (uint32_t)v : normal;
}

static uint32_t hiwater_slack(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t batch = online > 16 ? 2 * (uint32_t)online : 32; /* lib/percpu_counter.c */

	return 3 * (batch - 1);
}

static void configure(struct source_bpf *s)
{
	struct exitmeter_bpf *skel = s->skel;
	struct bpf_program *prog;
	uint32_t ring = test_size("EXITMETER_TEST_RING_BYTES",
				  s->attaching ? RING_BYTES_ATTACH : RING_BYTES);
	bool on_demand = kernel_btf_has_struct(&s->btf, "bpf_mem_alloc");
	uint32_t entries =
		test_size("EXITMETER_TEST_MAP_ENTRIES", on_demand ? MAP_ENTRIES : MAP_ENTRIES_PRE);

	skel->rodata->nr_cpus = (uint32_t)s->n_cpus;
	skel->rodata->ring_bytes = ring;
	skel->rodata->page_bytes = (uint32_t)s->page_bytes;
	skel->rodata->hiwater_slack_pages = hiwater_slack();
	skel->rodata->prio_tells_class = access("/sys/kernel/sched_ext", F_OK) != 0;
	bpf_map__set_max_entries(skel->maps.events, ring);
	bpf_map__set_max_entries(skel->maps.processes, entries);
	skel->rodata->keep_max = s->lent ? 0 : entries / 4 * 3; /* the client sees no map */
	bpf_map__set_max_entries(skel->maps.mms, entries);
	bpf_map__set_autocreate(skel->maps.threads, s->attaching);
	bpf_map__set_autocreate(skel->maps.births, s->attaching);
	bpf_map__set_autocreate(skel->maps.claims, s->old);
	bpf_map__set_max_entries(skel->maps.claims, 2 * entries);
	/* Which plan it will be is known only once it is loaded, but this one comes first. */
	skel->rodata->may_be_late =
		s->plan || !kernel_btf_has_struct(&s->btf, "trace_event_raw_sched_process_exit");
	s->image = s->attaching || s->split || skel->rodata->may_be_late
			   ? skel->progs.on_image
			   : skel->progs.on_image_plain;
	skel->rodata->attaching = s->attaching;
	source_bpf_compat_configure(skel);
	if (s->lent) {
		skel->rodata->lent = 1;
		skel->rodata->owner_uid = s->lent->uid;
		skel->rodata->owner_gid = s->lent->gid;
	}
	if (s->split) {
		skel->rodata->nr_runs = RUNS_MAX;
		if (s->split_env)
			skel->rodata->env_key_len = (uint32_t)snprintf(
				(char *)skel->rodata->env_key, sizeof(skel->rodata->env_key),
				"%s=", s->split_env);
		if (s->start_env)
			skel->rodata->env_start_len = (uint32_t)snprintf(
				(char *)skel->rodata->env_start, sizeof(skel->rodata->env_start),
				"%s=", s->start_env);
		bpf_map__set_max_entries(skel->maps.runs, RUNS_MAX);
	}
	if (on_demand) {
		bpf_map__set_map_flags(skel->maps.runtimes, BPF_F_NO_PREALLOC);
		bpf_map__set_map_flags(skel->maps.processes, BPF_F_NO_PREALLOC);
		bpf_map__set_map_flags(skel->maps.mms, BPF_F_NO_PREALLOC);
		bpf_map__set_map_flags(skel->maps.threads, BPF_F_NO_PREALLOC);
		bpf_map__set_map_flags(skel->maps.births, BPF_F_NO_PREALLOC);
	}
	bpf_object__for_each_program(prog, skel->obj)
	{
		bool at_once = prog == s->image || prog == skel->progs.on_switch ||
			       prog == skel->progs.on_wakeup_new;

		bpf_program__set_autoload(prog, at_once);
	}
}

/* Where libbpf's question whether tables can be mapped was refused there is nothing to read them
 * by. */
static int load_mapped(struct exitmeter_bpf *skel)
{
	int err = exitmeter_bpf__load(skel);

	return err || skel->bss ? err : -EPERM;
}

static int load(struct source_bpf *s, bool fresh_btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, o);
	int err;

	err = kernel_btf_open(&s->btf);
	if (!err)
		o.btf_custom_path = s->btf.path;
	s->old = getenv("EXITMETER_TEST_OLD") != NULL;
	s->skel = source_bpf_object(s->old, &o);
	if (!s->skel)
		return -errno;
	if (o.btf_custom_path) {
		err = kernel_btf_fill(&s->btf, bpf_object__btf(s->skel->obj), fresh_btf);
		if (err)
			return err;
	}
	configure(s);
	if (o.btf_custom_path)
		source_bpf_cast(&s->btf, s->skel->progs.on_switch);
	err = load_mapped(s->skel);
	if (err != -EINVAL || s->old)
		return err;
	/* There is something in it that the verifier does not know.  The types are the same. */
	exitmeter_bpf__destroy(s->skel);
	s->old = true;
	s->skel = source_bpf_object(s->old, &o);
	if (!s->skel)
		return -errno;
	configure(s);
	return load_mapped(s->skel);
}

static void unload(struct source_bpf *s)
{
	bpf_link__destroy(s->seed_link);
	exitmeter_bpf__destroy(s->seed);
	exitmeter_bpf__destroy(s->probes);
	exitmeter_bpf__destroy(s->skel);
	s->seed_link = NULL;
	s->seed = s->probes = s->skel = NULL;
	kernel_btf_close(&s->btf);
}

static int64_t ticks_of(uint64_t ns)
{
	return (int64_t)(ns / (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK)));
}

bool source_bpf_same(const struct source_bpf *s, uint64_t start_ns, const struct proc_stat *stat)
{
	int64_t apart = (int64_t)stat->start_ticks - s->ticks_off - ticks_of(start_ns);

	/* An offset that is no whole number of ticks rounds either way. */
	return apart >= -1 && apart <= 1;
}

/* Without sched_ext, which may take over even the default policy. */
static bool caller_is_fair(void)
{
	char state[16] = "disabled";
	int policy = sched_getscheduler(0);
	FILE *f = fopen("/sys/kernel/sched_ext/state", "re");

	if (f) {
		if (!fgets(state, sizeof(state), f))
			state[0] = 0;
		fclose(f);
	}
	return !strncmp(state, "disabled", 8) &&
	       (policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE);
}

/*
 * Finds the per-CPU offsets and takes in the held child, if there is one.  -EUCLEAN: the types do
 * not fit.
 */
static int prepare(struct source_bpf *s)
{
	struct proc_stat own;
	int err;

	s->skel->bss->root_pid = (uint32_t)s->root;
	s->skel->bss->caller_is_fair = caller_is_fair();
	err = test_run(s, EVENT_RUN_PREPARE);
	if (err)
		return err;
	s->tree = &s->skel->bss->tree;
	s->drops = &s->skel->bss->drops;
	s->split_rss = s->skel->bss->split_rss;
	s->slack_pages = s->skel->rodata->hiwater_slack_pages;
	if (!scan_stat(getpid(), &own))
		s->ticks_off = (int64_t)own.start_ticks - ticks_of(s->skel->bss->seed_start_ns);
	if (s->skel->bss->seed_pid != (uint32_t)getpid() ||
	    (!s->attaching && !s->lent && !s->skel->bss->seed_found))
		return -EUCLEAN;
	return s->lent && !s->skel->bss->seed_ring_guarded ? -EPROTONOSUPPORT : 0;
}

/* The hooks are live: as the client leaves its CPU its held child is taken in. */
static int await_client(struct source_bpf *s)
{
	volatile __u32 *awaited = &s->skel->bss->awaited_pid;
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SETTLE_MS * NS_PER_MS;
	int err;

	*awaited = (uint32_t)s->lent->client;
	err = s->lent->wake(s->lent->ctx);
	while (!err && *awaited) {
		pause_ns(PAUSE_LEAST_NS);
		if (clock_ns(CLOCK_MONOTONIC) >= deadline)
			err = -ETIMEDOUT;
	}
	return !err && !s->attaching && !s->skel->bss->seed_found ? -ENODATA : err;
}

static int attach_all(struct source_bpf *s)
{
	struct exitmeter_bpf *k = s->skel;
	int fd = bpf_program__fd(s->image), zero = 0, err;

	if (bpf_map_update_elem(bpf_map__fd(k->maps.programs), &zero, &fd, BPF_ANY))
		return -errno;
	err = source_bpf_attach(s, k->progs.on_wakeup_new, "sched_wakeup_new");
	if (!err)
		err = source_bpf_attach(s, k->progs.on_switch, "sched_switch");
	if (!err)
		err = source_bpf_attach(s, s->image, "sched_process_exec");
	if (!err)
		s->exec_announced = !source_bpf_attach(s, s->image, "sched_prepare_exec");
	k->bss->exec_by_tracepoint = s->exec_announced;
	return err ? err : source_bpf_attach_plan(s);
}

static void explain(const struct source_bpf *s, int err, char *why, size_t cap)
{
	switch (-err) {
	case ENOTSUP:
		snprintf(why, cap, "no hook where an exit can be read: %s", s->refused);
		break;
	case E2BIG:
		if (s->n_cpus > EVENT_CPUS_MAX) {
			snprintf(why, cap, "more than %d CPUs", EVENT_CPUS_MAX);
			break;
		}
		/* Longer than a plain user's program may be. */
		/* fall through */
	case EPERM:
	case EACCES:
		snprintf(why, cap,
			 "bpf() refused: needs root, or CAP_BPF and CAP_PERFMON (seccomp or "
			 "lockdown may refuse it too)");
		break;
	case ENOENT:
	case ESRCH:
		snprintf(why, cap, "the kernel has no BTF (/sys/kernel/btf/vmlinux)");
		break;
	case ENOSYS:
		snprintf(why, cap, "the kernel has no bpf()");
		break;
	case ECHILD:
		snprintf(why, cap, "the task iterator does not show the process");
		break;
	case ENOPKG:
		snprintf(why, cap,
			 "the task iterator did not load: a tree that is there cannot be taken in");
		break;
	case ENXIO:
		snprintf(why, cap, "the CPUs cannot be counted (/sys is not mounted)");
		break;
	case ENOBUFS:
		snprintf(why, cap, "more than %d processes to attach to", SEED_ROOTS_MAX);
		break;
	case EPROTONOSUPPORT:
		snprintf(why, cap,
			 "this kernel's ring buffer is not safe from its reader (6.10 is, and the "
			 "stable kernels since July 2024)");
		break;
	case ENODATA:
		snprintf(why, cap, "the held child was not met");
		break;
	case ETIMEDOUT:
		snprintf(why, cap, "who asked did not wait for the answer");
		break;
	case EUCLEAN:
		snprintf(why, cap, "the kernel's types do not fit the programs");
		break;
	case EINVAL:
		if (kernel_locked_down()) {
			snprintf(why, cap, "the kernel is locked down (lockdown=confidentiality)");
			break;
		}
		/* fall through */
	default:
		snprintf(why, cap, "BPF programs did not load: %s", strerror(-err));
	}
}

/* A cache file that fits another kernel would show itself in any other way. */
static bool types_may_be_wrong(const struct source_bpf *s, int err)
{
	return s->btf.cached && err != -ECHILD && err != -ECANCELED && err != -ETIMEDOUT &&
	       err != -ENODATA && err != -EPROTONOSUPPORT;
}

static int open_once(struct source_bpf *s, bool fresh_btf)
{
	int err = load(s, fresh_btf);

	if (!err)
		err = prepare(s);
	if (!err && s->attaching)
		err = source_bpf_seed_begin(s);
	if (!err)
		err = attach_all(s);
	if (!err && s->lent)
		err = await_client(s);
	if (!err && s->attaching)
		err = source_bpf_seed_take(s);
	if (!err)
		source_bpf_compat_follow(s, false);
	return err;
}

int source_bpf_open(const struct source_options *o, const struct source_sink *sink,
		    struct source **ret_source, char *why, size_t cap)
{
	struct source_bpf *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->base = (struct source){ .ops = &bpf_ops,
				   .sink = *sink,
				   .info = { .exits = "bpf",
					     .tree = "fork-events",
					     .samples = "bpf+proc",
					     .exact = true,
					     .sums = true,
					     .stops = UNKNOWN,
					     .stopped_ns = UNKNOWN } };
	s->btf.fd = -1;
	s->oom_evidence_ns = INT64_MAX;
	s->page_bytes = sysconf(_SC_PAGESIZE);
	libbpf_set_print(o->debug ? say : say_nothing);
	s->n_cpus = libbpf_num_possible_cpus();
	if (s->n_cpus <= 0 || s->n_cpus > EVENT_CPUS_MAX) {
		err = s->n_cpus <= 0 ? -ENXIO : -E2BIG;
		goto fail;
	}
	if (o->n_roots > SEED_ROOTS_MAX) {
		err = -ENOBUFS;
		goto fail;
	}
	if (o->plan && !source_bpf_is_plan(o->plan, why, cap)) {
		bpf_close(&s->base);
		return -EINVAL;
	}
	s->plan = o->plan;
	s->program = o->program;
	s->root = o->n_roots ? o->roots[0] : o->root;
	s->attaching = o->n_roots > 0;
	s->split = o->split;
	s->lent = o->lent;
	s->split_env = o->split_env;
	s->start_env = o->start_env;
	for (size_t i = 0; i < o->n_roots; i++)
		s->roots[i] = o->roots[i];
	s->n_roots = o->n_roots;
	err = open_once(s, false);
	if (err && types_may_be_wrong(s, err)) {
		while (s->n_links)
			bpf_link__destroy(s->links[--s->n_links]);
		unload(s);
		err = open_once(s, true);
	}
	if (err)
		goto fail;
	if (!s->lent) { /* else it is the client's to read */
		s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.events), source_bpf_on_record,
					   s, NULL);
		if (!s->ring) {
			err = -errno;
			goto fail;
		}
	}
	err = source_bpf_runs_open(s);
	if (err)
		goto fail;
	s->opened_ns = clock_ns(CLOCK_MONOTONIC);
	s->tick_wanted = o->tick;
	s->base.info.samples = o->tick ? "bpf-tick+proc" : "bpf+proc";
	s->base.info.sums = !s->old;
	if (s->old)
		s->base.info.degraded =
			s->split ? "this kernel's BPF cannot sum up the tree nor split it (5.19 "
				   "can): its peak is from scans and has no upper bound"
				 : "this kernel's BPF cannot sum up the tree (5.19 can): its peak "
				   "is from scans and has no upper bound";
	if (getenv("EXITMETER_TEST_BESIDE"))
		source_bpf_open_beside(s);
	*ret_source = &s->base;
	return 0;
fail:
	explain(s, err, why, cap);
	bpf_close(&s->base);
	return err;
}
