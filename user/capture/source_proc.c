// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_proc - what /proc and wait4 know: samples and bounds, never an exact end
 *
 * The tree is found by parent links; orphans come to us, since we are a subreaper.
 */
#include "capture/source_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "units.h"

#define POLL_MS 250 /* samples do the looking */

static struct source_proc *self(struct source *base)
{
	return (struct source_proc *)base;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void totals_of(struct source_proc *s, const struct sums *sum, struct totals *ret)
{
	int64_t user = sum->user_ns + s->reaped_user_ns - s->base_user_ns;
	int64_t system = sum->system_ns + s->reaped_system_ns - s->base_system_ns;

	if (user + system >= s->cpu_ns) {
		s->cpu_ns = user + system;
		s->user_ns = user;
		s->system_ns = system;
	}
	if (sum->scan.processes) {
		s->processes_max = larger(s->processes_max, sum->scan.processes);
		s->threads_max = larger(s->threads_max, sum->scan.threads);
	}
	*ret = (struct totals){
		.initial = s->initial,
		.baseline_cpu_ns = s->attached ? s->base_user_ns + s->base_system_ns : UNKNOWN,
		.forks = UNKNOWN,
		.exits = UNKNOWN,
		.records = UNKNOWN,
		.lost_exits = UNKNOWN,
		.repaired = UNKNOWN,
		.processes = sum->scan.processes,
		.processes_max = s->processes_max,
		.threads = sum->scan.threads,
		.threads_max = s->threads_max,
		.cpu_ns = s->cpu_ns,
		.cpu_user_ns = s->user_ns,
		.cpu_system_ns = s->system_ns,
		.minor_faults = UNKNOWN,
		.major_faults = UNKNOWN,
		.voluntary_switches = UNKNOWN,
		.involuntary_switches = UNKNOWN,
		.io = io_unknown,
		.largest_peak_bytes = s->maxrss_bytes,
		.sum_peak_bytes = UNKNOWN,
		.lower_bytes = UNKNOWN,
		.upper_bytes = UNKNOWN,
		.lower_max_bytes = UNKNOWN,
		.upper_max_bytes = UNKNOWN,
		.lower_max_at_ns = UNKNOWN,
		.interval_max_bytes = sum->scan.processes ? sum->scan.rss_bytes : UNKNOWN,
	};
}

/* --- the interface ------------------------------------------------------------------------- */

static int proc_drain(struct source *base)
{
	(void)base;
	return 0;
}

static int proc_sample(struct source *base, struct tree_sample *ret)
{
	struct source_proc *s = self(base);
	struct sums sum;
	int err = proc_look(s, &sum);

	totals_of(s, &sum, &ret->totals);
	ret->scanned = true;
	ret->scan = sum.scan;
	return err;
}

static void proc_ending(struct source *base, pid_t pid)
{
	proc_look_at_ended(self(base), pid);
}

static void proc_reaped(struct source *base, pid_t pid, int status, const struct rusage *ru)
{
	struct source_proc *s = self(base);
	int64_t maxrss = ru->ru_maxrss * 1024;
	struct seen *p = proc_find(s, pid);

	if (proc_was_stranger(s, pid))
		return;
	s->reaped_user_ns +=
		(int64_t)ru->ru_utime.tv_sec * NS_PER_S + (int64_t)ru->ru_utime.tv_usec * NS_PER_US;
	s->reaped_system_ns +=
		(int64_t)ru->ru_stime.tv_sec * NS_PER_S + (int64_t)ru->ru_stime.tv_usec * NS_PER_US;
	/* Below our own size it may be our image that the held child inherited. */
	if (maxrss > s->floor_bytes)
		s->maxrss_bytes = larger(s->maxrss_bytes, maxrss);
	if (!p && pid == s->root) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return;
		*p = (struct seen){ .pid = pid,
				    .ppid = (int32_t)getpid(),
				    .io = io_unknown,
				    .cpu_ns = UNKNOWN,
				    .born_ns = UNKNOWN,
				    .stat.comm = "" };
		HASH_ADD_INT(s->by_pid, pid, p);
		if (!hash_is_in(p)) {
			free(p);
			return;
		}
	}
	if (!p)
		return;
	p->reaped = true;
	p->wait_status = status;
	p->reaped_ns = clock_ns(CLOCK_MONOTONIC);
}

static int proc_finish(struct source *base, bool root_ended, struct totals *ret)
{
	struct source_proc *s = self(base);
	struct seen *p, *next;
	struct sums sum;
	int err = proc_look(s, &sum);

	(void)root_ended;
	totals_of(s, &sum, ret);
	HASH_ITER (hh, s->by_pid, p, next)
		if (!err)
			err = proc_hand_on(s, p, !p->ended && !p->reaped);
	return err;
}

static int proc_poll_fd(struct source *base)
{
	(void)base;
	return -1;
}

static int proc_poll_ms(struct source *base)
{
	(void)base;
	return POLL_MS;
}

static size_t proc_losses(struct source *base, struct loss *out, size_t cap)
{
	(void)base;
	(void)out;
	(void)cap;
	return 0;
}

static void proc_close(struct source *base)
{
	struct source_proc *s = self(base);
	struct seen *p = s->by_pid, *next;

	HASH_CLEAR(hh, s->by_pid);
	for (; p; p = next) {
		next = p->hh.next;
		free(p);
	}
	free(s->roots);
	free(s->strangers);
	free(s);
}

static const struct source_ops proc_ops = {
	.drain = proc_drain,
	.sample = proc_sample,
	.finish = proc_finish,
	.poll_fd = proc_poll_fd,
	.poll_ms = proc_poll_ms,
	.losses = proc_losses,
	.ending = proc_ending,
	.reaped = proc_reaped,
	.close = proc_close,
};

/* Takes in the tree that is there. */
static int take_in(struct source_proc *s)
{
	struct sums sum;
	int err = proc_look(s, &sum);

	s->base_user_ns = sum.user_ns;
	s->base_system_ns = sum.system_ns;
	s->initial = sum.scan.processes;
	return err || s->initial ? err : -ECHILD;
}

static struct source_proc *proc_new(const struct source_sink *sink)
{
	struct source_proc *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base = (struct source){ .ops = &proc_ops,
				   .sink = *sink,
				   .info = { .exits = "proc",
					     .tree = "ppid",
					     .samples = "proc",
					     .stops = UNKNOWN,
					     .stopped_ns = UNKNOWN } };
	s->ticks_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	s->boot_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	s->maxrss_bytes = s->processes_max = s->threads_max = UNKNOWN;
	return s;
}

int source_proc_open(const struct source_options *o, const struct source_sink *sink,
		     struct source **ret_source, char *why, size_t cap)
{
	struct source_proc *s = proc_new(sink);
	struct proc_status own;
	int err = 0;

	if (!s || proc_find_strangers(s, o->root)) {
		snprintf(why, cap, "out of memory");
		free(s);
		return -ENOMEM;
	}
	s->root = o->root;
	s->floor_bytes = scan_status(getpid(), &own) ? INT64_MAX : own.vm_hwm_bytes;
	s->initial = 1;
	if (o->n_roots) {
		s->attached = true;
		for (size_t i = 0; !err && i < o->n_roots; i++)
			err = proc_add_root(s, o->roots[i]);
		if (!err)
			err = take_in(s);
		texts_add(&s->base.notes, "orphans-of-attached-lost");
	} else {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	if (err) {
		snprintf(why, cap, "the process ended while it was attached to");
		proc_close(&s->base);
		return err;
	}
	s->taken_in = true;
	if (!scan_available())
		texts_add(&s->base.notes, "fork-copies-counted");
	*ret_source = &s->base;
	return 0;
}

struct source *source_proc_beside(const struct source_sink *sink)
{
	struct source_proc *s = proc_new(sink);

	if (!s)
		return NULL;
	s->attached = s->taken_in = true;
	return &s->base;
}

int source_proc_follow(struct source *beside, pid_t pid)
{
	struct source_proc *s = self(beside);
	struct sums sum;
	int err = proc_add_root(s, pid);

	if (!err)
		err = proc_look(s, &sum);
	if (!err && !proc_find(s, pid)) {
		proc_remove_root(s, pid);
		err = -ESRCH;
	}
	return err;
}
