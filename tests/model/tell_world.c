// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tell_world - names, numbers, and a /proc of the processes of a history, in place of procfs/scan
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "procfs/scan.h"
#include "tell.h"

#define TICK_NS 4000000ll

struct world *world;

struct process_key key_of_being(const struct truth *t, int i)
{
	return (struct process_key){ .start_ns = (uint64_t)(t->all[i].born_ns + i),
				     .tgid = (uint32_t)pid_of(i) };
}

int32_t pid_of(int i)
{
	return PID_BASE + i;
}

void comm_of(const struct being *b, char *comm)
{
	memset(comm, 0, EM_COMM_LEN);
	snprintf(comm, EM_COMM_LEN, "image%d", b->image);
}

size_t argv_of(const struct truth *t, int i, char *argv, size_t cap)
{
	return (size_t)snprintf(argv, cap, "image%d%c-x%c%d.%lld", t->all[i].image, 0, 0, i,
				(long long)t->all[i].execs) +
	       1;
}

int64_t rss_of(const struct truth *t, const struct being *b)
{
	return b->space < 0 ? 0 : t->spaces[b->space].rss;
}

int64_t mark_of(const struct truth *t, const struct being *b)
{
	return b->space < 0 ? 0 : t->spaces[b->space].mark;
}

bool finds_none(const struct world *w, uint64_t luck)
{
	return w->h->losing && luck_of(luck) % 8 == 0;
}

/* --- /proc ---------------------------------------------------------------------------------- */

static const struct being *living(pid_t pid)
{
	int i = pid - PID_BASE;

	return i >= 0 && i < world->truth.n && world->truth.all[i].alive ? &world->truth.all[i]
									 : NULL;
}

int scan_stat(pid_t pid, struct proc_stat *ret)
{
	const struct being *b = living(pid);

	if (!b)
		return -ENOENT;
	*ret = (struct proc_stat){ .pid = pid,
				   .ppid = b->creator < 0 ? 1 : pid_of(b->creator),
				   .state = 'S',
				   .utime_ticks = (uint64_t)(b->counters[COUNTER_UTIME] / TICK_NS),
				   .stime_ticks = (uint64_t)(b->counters[COUNTER_STIME] / TICK_NS),
				   .minor_faults = (uint64_t)b->counters[COUNTER_MINFLT],
				   .threads = b->threads };
	comm_of(b, ret->comm);
	return 0;
}

int scan_status(pid_t pid, struct proc_status *ret)
{
	const struct being *b = living(pid);
	int64_t rss, mark;

	if (!b || b->held)
		return -ENOENT;
	rss = rss_of(&world->truth, b) * PAGE_BYTES;
	mark = mark_of(&world->truth, b) * PAGE_BYTES;
	*ret = (struct proc_status){ .vm_rss_bytes = rss,
				     .vm_hwm_bytes = larger(rss, mark),
				     .vm_peak_bytes = larger(rss, mark),
				     .rss_anon_bytes = rss,
				     .threads = b->threads };
	return 0;
}

int scan_rollup(pid_t pid, struct proc_rollup *ret)
{
	(void)pid;
	(void)ret;
	return -ENOENT;
}

int64_t scan_cpu_ns(pid_t pid)
{
	const struct being *b = living(pid);

	return b ? b->cpu_before_ns + b->cpu_ns : UNKNOWN;
}

int scan_io(pid_t pid, struct io_counts *ret)
{
	(void)pid;
	*ret = io_unknown;
	return -EACCES;
}

int scan_thread_io(pid_t tid, struct io_counts *ret)
{
	return scan_io(tid, ret);
}

ssize_t scan_cmdline(pid_t pid, char *args, size_t cap)
{
	return living(pid) ? (ssize_t)argv_of(&world->truth, pid - PID_BASE, args, cap) : -ENOENT;
}
