// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/kernel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/lockdown.h"
#include "capture/probe.h"
#include "capture/refusal.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static void add_btf(struct checks *c, const struct probe_step *step)
{
	if (step->err)
		checks_add(c, "btf", CHECK_NO, step->required,
			   "a kernel built with CONFIG_DEBUG_INFO_BTF, and /sys mounted",
			   "the kernel's types cannot be read (" KERNEL_BTF ")");
	else if (step->cached)
		checks_add(c, "btf", CHECK_WORKS, step->required, NULL,
			   "from the cache of this kernel build%s",
			   access(KERNEL_BTF, R_OK) ? "; " KERNEL_BTF " is not readable" : "");
	else
		checks_add(c, "btf", CHECK_WORKS, step->required, NULL, "from " KERNEL_BTF);
}

static const char *meaning_of(const char *name)
{
	static const struct {
		const char *name, *text;
	} all[] = {
		{ "bpf", "the programs were loaded" },
		{ "tick", "attached to the end of the kernel's timers, its tick among them" },
		{ "iterator", "the tasks were iterated over (attaching with -p)" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			return all[i].text;
	return "attached and detached";
}

/* What is lost without it, for steps without which a run can be exact. */
static const char *loss_of(const char *name)
{
	static const struct {
		const char *name, *text;
	} all[] = {
		{ "sched_prepare_exec", "; the peak of an image before an exec is less exact" },
		{ "mark_victim", "; oom_killed is unknown" },
		{ "tick", "; bursts between two switches go unseen" },
		{ "iterator", "; running processes are found in /proc" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			return all[i].text;
	return "";
}

static void on_step(void *ctx, const struct probe_step *step)
{
	const char *cause = NULL, *remedy = NULL;
	struct checks *c = ctx;

	if (!strcmp(step->name, "btf")) {
		add_btf(c, step);
		return;
	}
	if (!step->tried) {
		checks_add(c, step->name, CHECK_UNKNOWN, step->required, NULL,
			   "not tried: what comes before it failed");
		return;
	}
	if (!step->err) {
		checks_add(c, step->name, CHECK_WORKS, step->required, NULL, "%s",
			   meaning_of(step->name));
		return;
	}
	/* -E2BIG: longer than a plain user's program may be. */
	if (step->err == -EPERM || step->err == -EACCES || step->err == -E2BIG ||
	    kernel_locked_down())
		cause = refusal_of_bpf(&remedy);
	else if (!strcmp(step->name, "iterator") && step->err != -EINVAL)
		cause = "it needs " KERNEL_BTF;
	checks_add(c, step->name, CHECK_NO, step->required, remedy, "%s%s%s%s",
		   strerror(-step->err), cause ? ": " : "", cause ? cause : "",
		   loss_of(step->name));
}

void kernel_checks(struct checks *c)
{
	const struct probe_sink sink = { c, on_step };

	source_bpf_probe(&sink);
}
