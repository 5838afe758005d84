// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/source.h"

#define LOSSES_MAX 32

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

void trial_run(struct verdict *v)
{
	struct trial t = { 0 };
	const struct source_sink sink = { &t, on_fork_record, on_exec_record, on_exit_record,
					  on_oom_record };
	struct source_options o = { .tick = true };
	struct loss losses[LOSSES_MAX];
	struct source *source = NULL;
	struct totals totals;
	int gate, err;

	*v = (struct verdict){ .source = "proc", .why = "cannot fork" };
	t.pid = o.root = hold_child(&gate);
	if (t.pid < 0)
		return;
	v->why[0] = '\0';
	err = source_bpf_open(&o, &sink, &source, v->why, sizeof(v->why));
	let_go(&t, gate);
	if (err)
		return;
	snprintf(v->source, sizeof(v->source), "%s", source->info.exits);
	snprintf(v->plan, sizeof(v->plan), "%s", source->info.hook ? source->info.hook : "");
	err = source_finish(source, true, &totals);
	if (source->info.degraded)
		snprintf(v->why, sizeof(v->why), "%s", source->info.degraded);
	else if (err || !t.ended)
		snprintf(v->why, sizeof(v->why), "the end of a child was not told%s%s",
			 err ? ": " : "", err ? strerror(-err) : "");
	else if (source_losses(source, losses, LOSSES_MAX))
		snprintf(v->why, sizeof(v->why), "something was lost: %s", losses[0].what);
	else
		v->exact = true;
	source_close(source);
}
