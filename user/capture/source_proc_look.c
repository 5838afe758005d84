// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_proc.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "units.h"

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct seen *proc_find(const struct source_proc *s, int32_t pid)
{
	struct seen *p;

	HASH_FIND_INT(s->by_pid, &pid, p);
	return p;
}

/* Where it is among the strangers, n_strangers: nowhere. */
static size_t stranger(const struct source_proc *s, pid_t pid)
{
	size_t i = 0;

	while (i < s->n_strangers && s->strangers[i] != pid)
		i++;
	return i;
}

int proc_find_strangers(struct source_proc *s, pid_t root)
{
	size_t n;
	struct found *all = scan_all(&n);

	s->strangers = calloc(n + 1, sizeof(*s->strangers));
	for (size_t i = 0; s->strangers && i < n; i++)
		if (all[i].stat.ppid == getpid() && all[i].stat.pid != root)
			s->strangers[s->n_strangers++] = all[i].stat.pid;
	free(all);
	return s->strangers ? 0 : -ENOMEM;
}

bool proc_was_stranger(struct source_proc *s, pid_t pid)
{
	size_t i = stranger(s, pid);

	if (i == s->n_strangers)
		return false;
	s->strangers[i] = s->strangers[--s->n_strangers]; /* the pid may come again */
	return true;
}

int proc_add_root(struct source_proc *s, pid_t pid)
{
	pid_t *more = realloc(s->roots, (s->n_roots + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->roots = more;
	s->roots[s->n_roots++] = pid;
	return 0;
}

void proc_remove_root(struct source_proc *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_roots; i++)
		if (s->roots[i] == pid)
			s->roots[i--] = s->roots[--s->n_roots];
}

static bool same(const struct seen *p, const struct proc_stat *st)
{
	return p && p->stat.start_ticks == st->start_ticks;
}

static bool is_root(const struct source_proc *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_roots; i++)
		if (s->roots[i] == pid)
			return true;
	return !s->attached && pid == s->root;
}

/*
 * The roots, what they or a member started, and orphans, which have us as their parent now; never
 * ourselves.
 */
static void find_members(const struct source_proc *s, struct found *all, size_t n)
{
	bool found = true;

	for (size_t i = 0; i < n; i++)
		all[i].member = is_root(s, all[i].stat.pid) ||
				(!s->attached && all[i].stat.ppid == getpid() &&
				 stranger(s, all[i].stat.pid) == s->n_strangers) ||
				same(proc_find(s, all[i].stat.pid), &all[i].stat);
	while (found) {
		found = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; !all[i].member && k < n; k++)
				if (all[k].member && all[k].stat.pid == all[i].stat.ppid &&
				    all[i].stat.pid != getpid())
					all[i].member = found = true;
	}
}

static void take_figures(struct seen *p, const struct proc_stat *st)
{
	int64_t cpu_ns = scan_cpu_ns(st->pid);

	p->stat = *st;
	p->has_stat = true;
	if (cpu_ns >= 0) /* else it went just now */
		p->cpu_ns = cpu_ns;
}

/* The process of @st, new or known; a pid that is used again ends the one before. */
static struct seen *meet(struct source_proc *s, const struct proc_stat *st)
{
	struct seen *p = proc_find(s, st->pid);

	if (p && !same(p, st)) {
		proc_drop(s, p);
		p = NULL;
	}
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = st->pid;
		p->ppid = st->ppid;
		p->io = io_unknown;
		p->cpu_ns = UNKNOWN;
		p->born_ns = proc_ticks_ns(s, st->start_ticks) - s->boot_ns;
		HASH_ADD_INT(s->by_pid, pid, p);
		if (!hash_is_in(p)) {
			free(p);
			return NULL;
		}
	}
	take_figures(p, st);
	p->pass = s->pass;
	return p;
}

static bool same_space(const struct seen *a, const struct seen *b)
{
	return !syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0, 0);
}

/*
 * By vfork or CLONE_VM: what is resident there is its creator's, or of another that has as much.
 * Where kcmp(2) is refused they are told apart by nothing.
 */
static bool shares_space(struct source_proc *s, struct seen *p, int64_t rss_bytes)
{
	const struct seen *creator = proc_find(s, p->ppid);
	struct seen *q;

	if (creator && creator != p && same_space(p, creator))
		return true;
	HASH_FIND(by_rss, s->by_rss, &rss_bytes, sizeof(rss_bytes), q);
	if (q)
		return same_space(p, q);
	p->key_rss_bytes = rss_bytes;
	HASH_ADD(by_rss, s->by_rss, key_rss_bytes, sizeof(p->key_rss_bytes), p);
	return false;
}

static void look_at(struct source_proc *s, struct seen *p, struct sums *sum)
{
	struct scan_result *r = &sum->scan;
	struct proc_status st;

	/* Its own, and what it has waited for (SPEC U-12). */
	sum->user_ns += proc_ticks_ns(s, p->stat.utime_ticks) +
			proc_ticks_ns(s, (uint64_t)p->stat.cutime_ticks);
	sum->system_ns += proc_ticks_ns(s, p->stat.stime_ticks) +
			  proc_ticks_ns(s, (uint64_t)p->stat.cstime_ticks);
	r->processes++;
	r->threads += p->stat.threads;
	if (scan_status(p->pid, &st) || st.vm_rss_bytes < 0)
		return;
	p->shares = shares_space(s, p, st.vm_rss_bytes);
	if (p->shares) {
		p->shared_mark_bytes = st.vm_hwm_bytes;
		return;
	}
	/* Left alone in it: that mark is not of its own time. */
	if (st.vm_hwm_bytes == p->shared_mark_bytes)
		st.vm_hwm_bytes = st.vm_rss_bytes;
	if (p->has_status && p->status.vm_hwm_bytes > st.vm_hwm_bytes)
		st.vm_hwm_bytes = p->status.vm_hwm_bytes; /* an image before the last exec */
	p->status = st;
	p->has_status = true;
	p->rss_max_bytes = larger(p->rss_max_bytes, st.vm_rss_bytes);
	/* Of several threads the ended ones are mixed with children that were waited for. */
	p->had_threads |= p->stat.threads > 1;
	if (p->had_threads)
		p->io = io_unknown;
	else
		scan_thread_io(p->pid, &p->io);
	r->rss_bytes += st.vm_rss_bytes;
	r->net_rss_bytes += st.vm_rss_bytes;
	r->split.anon_bytes += st.rss_anon_bytes > 0 ? st.rss_anon_bytes : 0;
	r->split.file_bytes += st.rss_file_bytes > 0 ? st.rss_file_bytes : 0;
	r->split.shmem_bytes += st.rss_shmem_bytes > 0 ? st.rss_shmem_bytes : 0;
	r->split.swap_bytes += st.vm_swap_bytes > 0 ? st.vm_swap_bytes : 0;
	r->split.hugetlb_bytes += st.hugetlb_bytes > 0 ? st.hugetlb_bytes : 0;
}

static void note_before(struct seen *p)
{
	p->taken_in = true;
	p->before = p->stat;
	p->cpu_before_ns = p->cpu_ns;
	p->io_before = p->io;
	/* It may be the last one that is left of those that share it. */
	p->mark_before_bytes = p->has_status ? p->status.vm_hwm_bytes
			       : p->shares   ? p->shared_mark_bytes
					     : UNKNOWN;
}

/* One that was seen alive has all its figures now. */
static void last_look(struct source_proc *s, const struct proc_stat *stat)
{
	struct seen *p = proc_find(s, stat->pid);

	if (!p || !same(p, stat))
		return;
	take_figures(p, stat);
	p->ended = true;
	p->pass = s->pass;
}

void proc_look_at_ended(struct source_proc *s, pid_t pid)
{
	struct proc_stat stat;

	if (stranger(s, pid) == s->n_strangers && !scan_stat(pid, &stat))
		meet(s, &stat);
}

/* One pass over /proc: the living summed up, the gone handed on. */
int proc_look(struct source_proc *s, struct sums *sum)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	struct seen *p, *next;
	size_t n;
	struct found *all = scan_all(&n);
	int err = 0;

	*sum = (struct sums){ 0 };
	s->pass++;
	find_members(s, all, n);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].member)
			continue;
		/* A leader that has ended before other threads is a zombie as well. */
		if (all[i].stat.state == 'Z' && all[i].stat.threads <= 1) {
			last_look(s, &all[i].stat);
			continue;
		}
		p = meet(s, &all[i].stat);
		if (!p)
			continue;
		if (!err)
			err = proc_read_image(s, p);
		look_at(s, p, sum);
		if (s->attached && !s->taken_in)
			note_before(p);
	}
	HASH_CLEAR(by_rss, s->by_rss);
	free(all);
	HASH_ITER (hh, s->by_pid, p, next)
		if (!err && p->pass != s->pass)
			err = proc_drop(s, p);
	sum->scan.complete = true;
	sum->scan.duration_ns = clock_ns(CLOCK_MONOTONIC) - start;
	return err;
}
