// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_ptrace_beside - processes that no tracer tells of: let go, or left by one that was killed
 */
#include "capture/source_ptrace.h"

#include <errno.h>
#include <string.h>

#include "capture/source_ptrace_tracer.h"
#include "procfs/scan.h"
#include "units.h"

#define BESIDE_NS (30 * NS_PER_MS)

static int on_beside_exec(void *ctx, const struct exec_record *r)
{
	struct source_ptrace *s = ctx;

	return s->base.sink.on_exec(s->base.sink.ctx, r);
}

/* What the process clock said at a sample is finer than ticks. */
static int on_beside_exit(void *ctx, const struct exit_record *at)
{
	struct source_ptrace *s = ctx;
	struct exit_record r = *at;
	struct living *l = ptrace_living_find(s, r.pid);

	s->beside_born += !l;
	s->beside_ended += !r.running;
	if (l) {
		r.ppid = l->ppid;
		r.born_ns = l->born_ns;
		r.cpu_ns = l->cpu_ns > r.cpu_ns ? l->cpu_ns : r.cpu_ns;
		r.cpu_user_ns = r.cpu_ns - (r.cpu_system_ns > 0 ? r.cpu_system_ns : 0);
		ptrace_living_forget(s, l);
	}
	if (r.cpu_ns > 0)
		s->ended_cpu_ns += r.cpu_ns;
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

/* Its end was not seen, or (@stat) it still runs: what was known before is all there is. */
static int put_unseen(struct source_ptrace *s, struct living *l, const struct proc_stat *stat)
{
	struct exit_record r = exit_record_unknown;

	r.key = l->key;
	r.pid = l->pid;
	r.ppid = l->ppid;
	r.running = stat;
	r.born_ns = l->born_ns;
	r.peak_rss_bytes = l->seen_bytes ? l->seen_bytes : UNKNOWN;
	r.peak_source = l->seen_bytes ? PEAK_SCAN : PEAK_NONE;
	r.cpu_ns = l->cpu_ns ? l->cpu_ns : UNKNOWN;
	r.notes = NOTE_REPAIRED;
	memcpy(r.comm, l->comm, sizeof(r.comm));
	s->beside_ended += !stat;
	if (r.cpu_ns > 0)
		s->ended_cpu_ns += r.cpu_ns;
	ptrace_living_forget(s, l);
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

static bool is_there(const struct source_ptrace *s, const struct living *l, struct proc_stat *stat)
{
	return !scan_stat(l->pid, stat) && stat->state != 'Z' &&
	       stat->start_ticks * (uint64_t)s->reader.tick_ns == l->key.start_ns;
}

/* Nobody counts any more: of those that were known, who lives still. */
void ptrace_count_living(const struct source_ptrace *s, int64_t *ret_processes,
			 int64_t *ret_threads)
{
	const struct living *l;
	struct proc_stat stat;

	*ret_processes = *ret_threads = 0;
	for (l = s->living; l; l = l->hh.next) {
		if (!is_there(s, l, &stat))
			continue;
		++*ret_processes;
		*ret_threads += stat.threads;
	}
}

/* The tracer has ended before its time: who lives still, and who has ended unseen. */
int ptrace_put_rest(struct source_ptrace *s)
{
	struct living *l, *next;
	struct proc_stat stat;
	int err = 0;

	for (l = s->living; l; l = next) {
		next = l->hh.next;
		bool there = is_there(s, l, &stat);

		if (!err)
			err = put_unseen(s, l, there ? &stat : NULL);
	}
	return err;
}

int ptrace_follow_beside(struct source_ptrace *s, pid_t pid)
{
	const struct source_sink sink = { .ctx = s,
					  .on_exec = on_beside_exec,
					  .on_exit = on_beside_exit };

	struct living *l = ptrace_living_find(s, pid);
	int64_t cpu;
	int err;

	s->let_go++;
	s->beside_due_ns = 0;
	if (!s->beside)
		s->beside = source_proc_beside(&sink);
	err = s->beside ? source_proc_follow(s->beside, pid) : -ENOMEM;
	if (err == -ESRCH && l)
		return put_unseen(s, l, NULL);
	cpu = l ? scan_cpu_ns(pid) : UNKNOWN;
	if (cpu >= 0)
		l->cpu_ns = cpu;
	return err == -ESRCH ? 0 : err;
}

/* Nothing else tells of these: they are looked at whenever there is time. */
void ptrace_look_beside(struct source_ptrace *s)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	struct tree_sample own = { .at_ns = now };

	if (now < s->beside_due_ns || source_sample(s->beside, &own))
		return;
	s->beside_due_ns = now + BESIDE_NS;
	s->beside_processes = own.totals.processes;
	s->beside_threads = own.totals.threads;
}
