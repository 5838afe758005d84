// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_open - the BPF source's programs and maps: sized, loaded, attached
 */
#include "capture/source_bpf.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/lockdown.h"
#include "log.h"
#include "procfs/scan.h"
#include "units.h"

#define RING_BYTES        (1u << 20)
#define RING_BYTES_ATTACH (8u << 20) /* a server's thousands may be ended at once */
/*
 * How many processes and address spaces the maps have room for.  Entries are made when they are
 * needed, but a map's buckets are cleared at the start: with 65,536 a command starts 0.7 to 1.1 ms
 * later than with 16,384 (6.18; 60 pairs, three times).  So it has these; a tree that is attached
 * to may have any number, and gets what can be: the kernel's own limit, and a 256th of the memory.
 */
#define MAP_ENTRIES        16384
#define MAP_ENTRIES_ATTACH 65536
#define MAP_MEMORY_SHARE   256
#define MAP_ENTRIES_PRE    8192 /* kernels that must preallocate */

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

static uint64_t pid_max(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned long long v;
	int n = f ? fscanf(f, "%llu", &v) : 0;

	if (f)
		fclose(f);
	return n == 1 ? v : MAP_ENTRIES_ATTACH;
}

static uint32_t map_entries(const struct source_bpf *s, bool on_demand)
{
	const struct exitmeter_bpf *skel = s->skel;
	uint64_t entry_bytes =
		bpf_map__value_size(skel->maps.processes) + bpf_map__value_size(skel->maps.mms);
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)s->page_bytes;
	uint64_t n = memory / MAP_MEMORY_SHARE / entry_bytes;

	if (!on_demand)
		return MAP_ENTRIES_PRE;
	if (!s->attaching)
		return MAP_ENTRIES;
	n = n < pid_max() ? n : pid_max();
	n = n < MAP_ENTRIES_ATTACH ? n : MAP_ENTRIES_ATTACH;
	return n > MAP_ENTRIES ? (uint32_t)n : MAP_ENTRIES;
}

static void configure(struct source_bpf *s)
{
	struct exitmeter_bpf *skel = s->skel;
	struct bpf_program *prog;
	uint32_t ring = test_size("EXITMETER_TEST_RING_BYTES",
				  s->attaching ? RING_BYTES_ATTACH : RING_BYTES);
	bool on_demand = kernel_btf_has_struct(&s->btf, "bpf_mem_alloc");
	uint32_t entries = test_size("EXITMETER_TEST_MAP_ENTRIES", map_entries(s, on_demand));

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
	err = source_bpf_run(s, EVENT_RUN_PREPARE);
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
		source_bpf_pause(PAUSE_LEAST_NS);
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
	s->base = (struct source){ .ops = &source_bpf_ops,
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
		s->base.ops->close(&s->base);
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
	s->base.ops->close(&s->base);
	return err;
}
