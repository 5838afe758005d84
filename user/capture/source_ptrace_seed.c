// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_ptrace_seed - takes in a tree that runs: every thread of every process in it
 *
 * A thread that is followed has its children followed by the kernel.  So passes over /proc come to
 * an end: once none of them finds a thread that is not, only one whose fork or clone had begun
 * before its creator was followed can still appear, which the later passes are for.
 */
#include "capture/source_ptrace_tracer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "units.h"

#define EMPTY_PASSES 4
#define PAUSE_NS     (4 * NS_PER_MS)
#define SEED_NS      (2 * NS_PER_S) /* a tree that never rests is taken as far as it was found */

static bool is_root(const struct source_options *o, pid_t pid)
{
	for (size_t i = 0; i < o->n_roots; i++)
		if (o->roots[i] == pid)
			return true;
	return false;
}

/* Never exitmeter, nor us. */
static void find_members(const struct tracer *t, struct found *all, size_t n)
{
	pid_t us = getpid(), exitmeter = getppid();
	bool more = true;

	for (size_t i = 0; i < n; i++)
		all[i].member = all[i].stat.pid != us && all[i].stat.pid != exitmeter &&
				(is_root(t->options, all[i].stat.pid) ||
				 member_find(&t->table, all[i].stat.pid));
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; !all[i].member && k < n; k++)
				if (all[k].member && all[k].stat.pid == all[i].stat.ppid &&
				    all[i].stat.pid != us && all[i].stat.pid != exitmeter)
					all[i].member = more = true;
	}
}

/* The kernel follows it already: its creator's word, still to come, makes it known. */
static bool followed_by_kernel(pid_t pid)
{
	struct proc_kin kin;

	return !scan_kin(pid, &kin) && kin.tracer_pid == getpid();
}

/* 1: it is followed from now on; 0: it was, or is gone; or -errno. */
static int take_thread(struct tracer *t, struct member *m, pid_t tid)
{
	struct proc_stat stat;
	int err;

	if (tracee_find(&t->table, tid))
		return 0;
	err = tracer_seize(tid);
	if (err == -ESRCH)
		return 0;
	/* The kernel did it for its creator, whose word is still to come; or it has ended. */
	if (err == -EPERM && (scan_stat(tid, &stat) || stat.state == 'Z' || stat.state == 'X' ||
			      followed_by_kernel(tid)))
		return 0;
	if (err)
		return err;
	if (!tracee_add(&t->table, tid, m)) {
		t->sums.untracked++;
		return -ENOMEM;
	}
	tracer_count_thread(t);
	return 1;
}

static int take_threads(struct tracer *t, struct member *m, bool *ret_new)
{
	char path[32];
	struct dirent *d;
	DIR *dir;
	int got, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)m->tgid);
	dir = opendir(path);
	while (!err && dir && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		got = take_thread(t, m, atoi(d->d_name));
		err = got < 0 ? got : 0;
		*ret_new |= got > 0;
	}
	if (dir)
		closedir(dir);
	return err;
}

static int take_process(struct tracer *t, const struct found *f, bool *ret_new)
{
	struct member *m = member_find(&t->table, f->stat.pid);
	bool known = m;
	int err;

	if (m)
		return take_threads(t, m, ret_new);
	if (followed_by_kernel(f->stat.pid))
		return 0;
	/* Its own check would fail, and nobody could be told apart by its status. */
	if (t->programs && program_look(t->programs, f->stat.pid).leak_sanitizer)
		return -ENOTSUP;
	m = tracer_take_in(t, f->stat.pid, f->stat.ppid, true);
	if (!m)
		return -ENOMEM;
	err = take_threads(t, m, ret_new);
	if (!known && !m->threads) {
		if (!err && f->stat.state != 'Z' && f->stat.state != 'X') {
			t->sums.missed++;
			*ret_new = true; /* what it left behind is somebody else's child now */
		}
		member_remove(&t->table, m);
		return err;
	}
	if (!tracee_find(&t->table, f->stat.pid))
		m->threads_ever++; /* a leader that has ended before its threads */
	reading_before(&t->reader, m, tracer_thread_of(t, m));
	m->has_children = true; /* it may have had some */
	tracer_born(t, m, member_find(&t->table, f->stat.ppid), false);
	return err;
}

static int pass(struct tracer *t, bool *ret_new)
{
	size_t n;
	struct found *all = scan_all(&n);
	int err = 0;

	find_members(t, all, n);
	for (size_t i = 0; !err && i < n; i++)
		if (all[i].member)
			err = take_process(t, &all[i], ret_new);
	free(all);
	return err;
}

static bool is_zombie(pid_t pid)
{
	struct proc_stat stat;

	return !scan_stat(pid, &stat) && (stat.state == 'Z' || stat.state == 'X');
}

/* The children of one thread, each followed at once: faster than they can fork and end. */
static int take_children(struct tracer *t, const struct tracee *e, bool *ret_new)
{
	pid_t parent = e->of->tgid;
	char path[64];
	FILE *file;
	int pid, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)e->tid);
	file = fopen(path, "re");
	while (!err && file && fscanf(file, "%d", &pid) == 1) {
		const struct found f = { .stat = { .pid = pid, .ppid = parent, .state = 'R' } };

		/* One that nobody waits for stays there, and was none of those to be taken in. */
		if (!member_find(&t->table, pid) && pid != getpid() && pid != getppid() &&
		    !is_zombie(pid))
			err = take_process(t, &f, ret_new);
	}
	if (file)
		fclose(file);
	return err;
}

static int children_pass(struct tracer *t, bool *ret_new)
{
	struct tracee *e, *next;
	int err = 0;

	HASH_ITER (hh, t->table.tracees, e, next)
		if (!err && e->of)
			err = take_children(t, e, ret_new);
	return err;
}

static void see_all(struct tracer *t)
{
	while (tracer_see_next(t, false))
		;
}

int tracer_seed(struct tracer *t)
{
	const struct timespec moment = { .tv_nsec = PAUSE_NS };
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SEED_NS;
	int err = 0;

	for (int empty = 0; !err && empty < EMPTY_PASSES && clock_ns(CLOCK_MONOTONIC) < deadline;
	     empty++) {
		bool found = false, more = true;

		err = pass(t, &found);
		see_all(t);
		while (!err && more && clock_ns(CLOCK_MONOTONIC) < deadline) {
			more = false;
			err = children_pass(t, &more);
			found |= more;
			see_all(t);
		}
		if (found)
			empty = -1;
		else if (!err)
			nanosleep(&moment, NULL);
	}
	return !err && !t->table.members ? -ECHILD : err;
}
