// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include "capture/source_bpf.h"

/* Nothing is followed: what the maps must hold is the least that loads. */
#define PROBE_RING_BYTES (64u << 10)
#define PROBE_ENTRIES    64

struct probe_hook {
	const char *name, *tracepoint, *program;
	bool required;
	bool late; /* loaded by itself, so that its failure leaves the others */
};

static const struct probe_hook hooks[] = {
	{ "sched_wakeup_new", "sched_wakeup_new", "on_wakeup_new", .required = true },
	{ "sched_switch", "sched_switch", "on_switch", .required = true },
	{ "sched_process_exit", "sched_process_exit", "on_image", .required = true },
	{ "sched_process_exec", "sched_process_exec", "on_image", .required = true },
	{ "sched_prepare_exec", "sched_prepare_exec", "on_image", .required = false },
	{ "mark_victim", "mark_victim", "on_mark_victim", .late = true },
	{ "tick", "hrtimer_expire_exit", "on_tick", .late = true },
};

#define N_HOOKS (sizeof(hooks) / sizeof(hooks[0]))

struct probe {
	const struct probe_sink *sink;
	struct kernel_btf btf;
	int n_cpus;
	bool old; /* the object for kernels before 5.19 */
};

static void say(const struct probe *p, const char *name, bool required, int err)
{
	const struct probe_step step = {
		.name = name, .required = required, .tried = true, .err = err
	};

	p->sink->on_step(p->sink->ctx, &step);
}

static void say_untried(const struct probe *p, const char *name, bool required)
{
	const struct probe_step step = { .name = name, .required = required };

	p->sink->on_step(p->sink->ctx, &step);
}

static struct exitmeter_bpf *open_object(const struct probe *p)
{
	LIBBPF_OPTS(bpf_object_open_opts, o,
		    .btf_custom_path = p->btf.fd >= 0 ? p->btf.path : NULL);

	return source_bpf_object(p->old, &o);
}

static bool is_wanted(const char *program, bool late)
{
	for (size_t i = 0; i < N_HOOKS; i++)
		if (!strcmp(program, hooks[i].program))
			return hooks[i].late == late;
	return false;
}

/* The programs of the one kind, loaded.  0 and *@ret, or -errno. */
static int load_programs(const struct probe *p, bool late, struct exitmeter_bpf **ret)
{
	struct exitmeter_bpf *skel = open_object(p);
	struct bpf_program *prog;
	int err;

	if (!skel)
		return -errno;
	bpf_object__for_each_program(prog, skel->obj)
	{
		bpf_program__set_autoload(prog, is_wanted(bpf_program__name(prog), late));
	}
	skel->rodata->nr_cpus = (__u32)p->n_cpus;
	skel->rodata->ring_bytes = PROBE_RING_BYTES;
	skel->rodata->hiwater_slack_pages = 1;
	skel->rodata->prio_tells_class = access("/sys/kernel/sched_ext", F_OK) != 0;
	bpf_map__set_max_entries(skel->maps.events, PROBE_RING_BYTES);
	bpf_map__set_max_entries(skel->maps.processes, PROBE_ENTRIES);
	bpf_map__set_max_entries(skel->maps.mms, PROBE_ENTRIES);
	bpf_map__set_max_entries(skel->maps.runtimes, PROBE_ENTRIES);
	bpf_map__set_max_entries(skel->maps.claims, PROBE_ENTRIES);
	err = exitmeter_bpf__load(skel);
	if (err) {
		exitmeter_bpf__destroy(skel);
		return err;
	}
	*ret = skel;
	return 0;
}

static int hook_try(const struct exitmeter_bpf *skel, const struct probe_hook *h)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(skel->obj, h->program);
	struct bpf_link *link;

	if (!prog)
		return -ENOENT;
	if (!strcmp(h->name, "tick") && !source_bpf_tick_is_timer())
		return -ENODEV;
	link = bpf_program__attach_raw_tracepoint(prog, h->tracepoint);
	if (!link)
		return -errno;
	bpf_link__destroy(link);
	return 0;
}

static void hooks_try(const struct probe *p, bool late, const struct exitmeter_bpf *skel, int err)
{
	for (size_t i = 0; i < N_HOOKS; i++) {
		const struct probe_hook *h = &hooks[i];

		if (h->late != late)
			continue;
		if (!skel && !late)
			say_untried(p, h->name, h->required);
		else
			say(p, h->name, h->required, skel ? hook_try(skel, h) : err);
	}
}

/* A program that does nothing for each task there is, loaded, attached and read to its end. */
static int iterator_try(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_ITER);
	int prog = -1, link = -1, tasks = -1, id, err = 0;
	char byte;

	id = libbpf_find_vmlinux_btf_id("task", BPF_TRACE_ITER);
	if (id < 0)
		return id;
	o.attach_btf_id = (__u32)id;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "each_task", "GPL", code, 2, &o);
	if (prog >= 0)
		link = bpf_link_create(prog, 0, BPF_TRACE_ITER, NULL);
	if (link >= 0)
		tasks = bpf_iter_create(link);
	if (tasks < 0 || read(tasks, &byte, 1) < 0)
		err = -errno;
	if (tasks >= 0)
		close(tasks);
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	return err;
}

/* The types go where the programs' loading reads them.  0 or -errno. */
static int btf_try(struct probe *p)
{
	struct probe_step step = { .name = "btf", .required = true, .tried = true };
	struct exitmeter_bpf *skel;
	struct btf *whole;

	if (!kernel_btf_open(&p->btf)) {
		skel = open_object(p);
		step.err =
			skel ? kernel_btf_fill(&p->btf, bpf_object__btf(skel->obj), false) : -errno;
		exitmeter_bpf__destroy(skel);
		step.cached = p->btf.cached;
	} else {
		/* Without a place for the small one libbpf reads the kernel's whole. */
		whole = btf__load_vmlinux_btf();
		step.err = whole ? 0 : -errno;
		btf__free(whole);
	}
	p->sink->on_step(p->sink->ctx, &step);
	return step.err;
}

static void late_try(const struct probe *p)
{
	struct exitmeter_bpf *skel = NULL;
	int err = load_programs(p, true, &skel);

	hooks_try(p, true, skel, err);
	exitmeter_bpf__destroy(skel);
}

void source_bpf_probe(const struct probe_sink *sink)
{
	struct probe p = { .sink = sink, .btf.fd = -1 };
	struct exitmeter_bpf *skel = NULL;
	int err;

	libbpf_set_print(NULL);
	p.n_cpus = libbpf_num_possible_cpus();
	if (btf_try(&p)) {
		say_untried(&p, "bpf", true);
	} else {
		err = p.n_cpus > 0 ? load_programs(&p, false, &skel) : p.n_cpus;
		if (err == -EINVAL) {
			p.old = true;
			err = load_programs(&p, false, &skel);
		}
		say(&p, "bpf", true, err);
	}
	hooks_try(&p, false, skel, 0);
	if (skel) {
		late_try(&p);
		say(&p, "iterator", false, iterator_try());
	} else {
		say_untried(&p, "mark_victim", false);
		say_untried(&p, "tick", false);
		say_untried(&p, "iterator", false);
	}
	exitmeter_bpf__destroy(skel);
	kernel_btf_close(&p.btf);
}
