// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "log.h"

/* Where memory is read at an exit, best first.  The first that attaches is used. */
struct plan {
	const char *name; /* --source=bpf:NAME, source.hook */
	int (*attach)(struct source_bpf *s);
	const char *degraded; /* NULL: it is exact */
	const char *cost;     /* measured, see doc/PLANS.md */
};

static int keep(struct source_bpf *s, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (s->n_links == LINKS_MAX) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	s->links[s->n_links++] = link;
	return 0;
}

int source_bpf_attach(struct source_bpf *s, struct bpf_program *prog, const char *tracepoint)
{
	return keep(s, bpf_program__attach_raw_tracepoint(prog, tracepoint));
}

int source_bpf_attach_classic(struct source_bpf *s, struct bpf_program *prog, const char *group,
			      const char *tracepoint)
{
	return keep(s, bpf_program__attach_tracepoint(prog, group, tracepoint));
}

/* 6.16 on: the exit tracepoint itself. */
static int attach_exit_tracepoint(struct source_bpf *s)
{
	if (!s->skel->bss->seed_exit_mm)
		return -ENODATA;
	return source_bpf_attach(s, s->image, "sched_process_exit");
}

static int attach_kprobe(struct source_bpf *s, const char *function)
{
	return keep(s,
		    bpf_program__attach_kprobe(s->probes->progs.on_image_probe, false, function));
}

/* Called right before the address space goes, with CONFIG_TASKSTATS; every distribution has it. */
static int attach_exit_kprobe(struct source_bpf *s)
{
	static const char *const names[] = { "on_image_probe", NULL };
	int err;

	s->probes = source_bpf_more(s, names);
	if (!s->probes)
		return -ENOTSUP;
	err = attach_kprobe(s, "taskstats_exit");
	/* Before 6.10 no tracepoint announces an exec either. */
	if (!err && !s->exec_announced && attach_kprobe(s, "exec_mm_release"))
		log_debug("plan kprobe: no exec_mm_release: images before an exec go unseen");
	return err;
}

/* The same functions by their entries. */
static int attach_exit_entry(struct source_bpf *s)
{
	static const char *const names[] = { "on_exit_entry", "on_exec_entry", NULL };
	bool announced = s->exec_announced;
	int err;

	s->probes = source_bpf_more(s, announced ? (const char *const[]){ names[0], NULL } : names);
	if (!s->probes)
		return -ENOTSUP;
	err = keep(s, bpf_program__attach_trace(s->probes->progs.on_exit_entry));
	if (!err && !announced)
		err = keep(s, bpf_program__attach_trace(s->probes->progs.on_exec_entry));
	return err;
}

static int attach_late_exit(struct source_bpf *s)
{
	s->skel->bss->exit_late = 1;
	return source_bpf_attach(s, s->image, "sched_process_exit");
}

static bool tracefs_is_mounted(void)
{
	return !access("/sys/kernel/tracing/events", F_OK) ||
	       !access("/sys/kernel/debug/tracing/events", F_OK);
}

/* Whoever sets out to end, in one of the three ways there are. */
static int attach_exit_calls(struct source_bpf *s)
{
	const char *const names[] = { "on_exit_call", "on_signal", "on_exec_call",
				      source_bpf_compat_is() ? "on_compat_call" : NULL, NULL };
	int err;

	if (!tracefs_is_mounted())
		return -ENODEV;
	s->probes = source_bpf_more(s, names);
	if (!s->probes)
		return -ENOTSUP;
	err = source_bpf_attach_classic(s, s->probes->progs.on_exit_call, "syscalls",
					"sys_enter_exit_group");
	if (!err)
		err = source_bpf_attach_classic(s, s->probes->progs.on_exit_call, "syscalls",
						"sys_enter_exit");
	if (!err)
		err = source_bpf_attach_classic(s, s->probes->progs.on_signal, "signal",
						"signal_deliver");
	if (!err && !s->exec_announced)
		err = source_bpf_attach_classic(s, s->probes->progs.on_exec_call, "syscalls",
						"sys_enter_execve");
	if (!err && !s->exec_announced)
		err = source_bpf_attach_classic(s, s->probes->progs.on_exec_call, "syscalls",
						"sys_enter_execveat");
	if (!err)
		source_bpf_compat_begin(s);
	return err ? err : attach_late_exit(s);
}

#define COST_EXIT "an exec costs 3 to 4 % more, a system call about 1 % or nothing"
#define COST_CALLS                                                                                \
	"every system call of the machine costs more while it runs, a cheap one a quarter, four " \
	"fifths where there are 32-bit programs"

static const struct plan plans[] = {
	{ "sched_process_exit+mm", attach_exit_tracepoint, NULL, COST_EXIT },
	{ "kprobe:taskstats_exit", attach_exit_kprobe, NULL, COST_EXIT },
	{ "fentry:taskstats_exit", attach_exit_entry, NULL, COST_EXIT },
	{ "exit_group+exit+signal_deliver", attach_exit_calls, NULL, COST_CALLS },
	{ "maxrss", attach_late_exit, "this plan of hooks has only bounds of peaks", COST_EXIT },
};

#define N_PLANS (sizeof(plans) / sizeof(plans[0]))

static const char *refusal(int err)
{
	switch (-err) {
	case ENODATA:
		return "the address space is gone by then";
	case ENODEV:
		return "tracefs is not mounted";
	case ENOTSUP:
		return "its program did not load";
	case ENOENT:
	case EINVAL:
		return "no such hook in this kernel";
	default:
		return strerror(-err);
	}
}

/* Undoes what a plan attached before it failed. */
static void withdraw(struct source_bpf *s, size_t n_links)
{
	while (s->n_links > n_links)
		bpf_link__destroy(s->links[--s->n_links]);
	exitmeter_bpf__destroy(s->probes);
	s->probes = NULL;
	s->skel->bss->exit_late = 0;
}

int source_bpf_attach_plan(struct source_bpf *s)
{
	size_t used = 0, n_links = s->n_links;
	int err = -EINVAL;

	for (size_t i = 0; i < N_PLANS; i++) {
		if (s->plan && strcmp(s->plan, plans[i].name) != 0)
			continue;
		err = plans[i].attach(s);
		if (!err) {
			s->base.info.hook = plans[i].name;
			if (plans[i].degraded)
				s->base.info.degraded = plans[i].degraded;
			s->base.info.cost = plans[i].cost;
			s->base.info.refused = s->refused;
			return 0;
		}
		withdraw(s, n_links);
		log_debug("plan %s: %s", plans[i].name, refusal(err));
		used += (size_t)snprintf(s->refused + used, sizeof(s->refused) - used, "%s%s: %s",
					 used ? "; " : "", plans[i].name, refusal(err));
		if (used >= sizeof(s->refused))
			used = sizeof(s->refused) - 1;
	}
	return -ENOTSUP;
}

bool source_bpf_is_plan(const char *name, char *why, size_t cap)
{
	size_t used;

	for (size_t i = 0; i < N_PLANS; i++)
		if (!strcmp(name, plans[i].name))
			return true;
	used = (size_t)snprintf(why, cap, "no plan is named '%s' (", name);
	for (size_t i = 0; i < N_PLANS && used < cap; i++)
		used += (size_t)snprintf(why + used, cap - used, "%s%s", i ? ", " : "",
					 plans[i].name);
	if (used < cap)
		snprintf(why + used, cap - used, ")");
	return false;
}
