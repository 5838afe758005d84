// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/source.h"

struct trial {
	pid_t pid;
	bool ended;
};

static int on_exit_record(void *ctx, const struct exit_record *r)
{
	struct trial *t = ctx;

	if (r->pid == t->pid && !r->running && r->cpu_ns >= 0)
		t->ended = true;
	return 0;
}

static int on_fork_record(void *ctx, const struct fork_record *r)
{
	(void)ctx;
	(void)r;
	return 0;
}

static int on_exec_record(void *ctx, const struct exec_record *r)
{
	(void)ctx;
	(void)r;
	return 0;
}

static int on_oom_record(void *ctx, const struct oom_record *r)
{
	(void)ctx;
	(void)r;
	return 0;
}

static pid_t hold_child(int *ret_gate)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe(gate))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PTRACER, getppid(), 0, 0, 0); /* as launch does */
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) < 0 ? 1 : 0);
	}
	close(gate[0]);
	*ret_gate = gate[1];
	if (pid < 0)
		close(gate[1]);
	return pid;
}

static void let_go(struct trial *t, int gate)
{
	close(gate);
	while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* One child followed to its end from @open; false: it does not open, and @ret says why. */
static bool try_source(int (*open)(const struct source_options *o, const struct source_sink *sink,
				   struct source **ret_source, char *why, size_t cap),
		       struct verdict *ret)
{
	struct trial t = { 0 };
	const struct source_sink sink = {
		&t, on_fork_record, on_exec_record, on_exit_record, on_oom_record, NULL
	};
	struct source_options o = { .tick = true };
	struct loss losses[LOSSES_MAX];
	struct source *source = NULL;
	struct totals totals;
	int gate, err;

	*ret = (struct verdict){ .source = "proc", .why = "cannot fork" };
	t.pid = o.root = hold_child(&gate);
	if (t.pid < 0)
		return false;
	ret->why[0] = '\0';
	err = open(&o, &sink, &source, ret->why, sizeof(ret->why));
	let_go(&t, gate);
	if (err)
		return false;
	snprintf(ret->source, sizeof(ret->source), "%s", source->info.exits);
	snprintf(ret->plan, sizeof(ret->plan), "%s", source->info.hook ? source->info.hook : "");
	snprintf(ret->cost, sizeof(ret->cost), "%s", source->info.cost ? source->info.cost : "");
	snprintf(ret->via, sizeof(ret->via), "%s", source->info.via ? source->info.via : "");
	err = source_finish(source, true, &totals);
	if (source->info.degraded)
		snprintf(ret->why, sizeof(ret->why), "%s", source->info.degraded);
	else if (err || !t.ended)
		snprintf(ret->why, sizeof(ret->why), "the end of a child was not told%s%s",
			 err ? ": " : "", err ? strerror(-err) : "");
	else if (source_losses(source, losses, LOSSES_MAX))
		snprintf(ret->why, sizeof(ret->why), "something was lost: %s", losses[0].what);
	else
		ret->exact = true;
	source_close(source);
	return true;
}

void trial_run(struct verdict *v)
{
	struct verdict second;

	if (try_source(source_bpf_open, v))
		return;
	if (try_source(source_probed_open, &second)) {
		*v = second;
		return;
	}
	if (try_source(source_ptrace_open, &second)) {
		/* Why not bpf is the reason all the same. */
		snprintf(second.refused, sizeof(second.refused), "%s", v->why);
		*v = second;
		return;
	}
	snprintf(v->why + strlen(v->why), sizeof(v->why) - strlen(v->why), "; %s", second.why);
}
