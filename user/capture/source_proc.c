// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_proc - what /proc and wait4 know: samples and bounds, never an exact end
 *
 * The tree is found by parent links; orphans come to us, since we are a subreaper.
 */
#include "capture/source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <uthash.h>

#include "procfs/scan.h"
#include "units.h"

#define POLL_MS  250 /* samples do the looking */
#define ARGV_MAX 4096

struct seen {
	int32_t pid;
	UT_hash_handle hh;
	int32_t ppid;
	struct proc_stat stat;
	struct proc_status status;
	struct io_counts io;
	bool has_stat, has_status; /* was read at least once */
	char argv_of[64];          /* its name when its arguments were read */
	int64_t born_ns;
	uint64_t pass; /* the last one that met it */
	bool taken_in; /* it was there before; what it had used and its mark then: */
	struct proc_stat before;
	struct io_counts io_before;
	int64_t mark_before_bytes;
	int64_t rss_max_bytes; /* of what was seen since */
	bool reaped;
	int wait_status;
	int64_t reaped_ns;
};

struct source_proc {
	struct source base;
	pid_t root;
	const pid_t *roots; /* attached to; NULL: not */
	size_t n_roots;
	bool taken_in;                                 /* source_open is over */
	int64_t initial, base_user_ns, base_system_ns; /* when it was attached */
	struct seen *by_pid;
	pid_t *strangers; /* children that we had before (a shell's that executed us) */
	size_t n_strangers;
	uint64_t pass;
	int64_t ticks_ns;    /* a clock tick */
	int64_t boot_ns;     /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	int64_t floor_bytes; /* our own size when the root was forked: ru_maxrss cannot be below */
	int64_t reaped_user_ns, reaped_system_ns; /* of what we waited for, its children included */
	int64_t maxrss_bytes; /* the largest of their ru_maxrss above the floor; UNKNOWN */
	int64_t cpu_ns, user_ns, system_ns; /* the newest totals, which never fall */
	int64_t processes_max, threads_max; /* UNKNOWN before anything was seen */
};

static struct source_proc *self(struct source *base)
{
	return (struct source_proc *)base;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static const struct io_counts no_io = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
					UNKNOWN, UNKNOWN, UNKNOWN };

/* --- looking ------------------------------------------------------------------------------- */

struct entry {
	struct proc_stat stat;
	bool member;
};

static struct entry *read_all(size_t *ret_n)
{
	struct entry *all = NULL, *more;
	struct dirent *d;
	size_t n = 0, cap = 0;
	DIR *dir = opendir("/proc");

	while (dir && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (n == cap) {
			cap = cap ? 2 * cap : 256;
			more = realloc(all, cap * sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		all[n] = (struct entry){ 0 };
		if (!scan_stat(atoi(d->d_name), &all[n].stat))
			n++;
	}
	if (dir)
		closedir(dir);
	*ret_n = n;
	return all;
}

static struct seen *find(const struct source_proc *s, int32_t pid)
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

static int find_strangers(struct source_proc *s)
{
	size_t n;
	struct entry *all = read_all(&n);

	s->strangers = calloc(n + 1, sizeof(*s->strangers));
	for (size_t i = 0; s->strangers && i < n; i++)
		if (all[i].stat.ppid == getpid() && all[i].stat.pid != s->root)
			s->strangers[s->n_strangers++] = all[i].stat.pid;
	free(all);
	return s->strangers ? 0 : -ENOMEM;
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
	return !s->roots && pid == s->root;
}

/*
 * The roots, what they or a member started, and orphans, which have us as their parent now; never
 * ourselves.
 */
static void find_members(const struct source_proc *s, struct entry *all, size_t n)
{
	bool found = true;

	for (size_t i = 0; i < n; i++)
		all[i].member = is_root(s, all[i].stat.pid) ||
				(!s->roots && all[i].stat.ppid == getpid() &&
				 stranger(s, all[i].stat.pid) == s->n_strangers) ||
				same(find(s, all[i].stat.pid), &all[i].stat);
	while (found) {
		found = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; !all[i].member && k < n; k++)
				if (all[k].member && all[k].stat.pid == all[i].stat.ppid &&
				    all[i].stat.pid != getpid())
					all[i].member = found = true;
	}
}

static int64_t ticks(const struct source_proc *s, uint64_t n)
{
	return (int64_t)n * s->ticks_ns;
}

static struct process_key key_of(const struct source_proc *s, const struct seen *p)
{
	return (struct process_key){ .start_ns = p->stat.start_ticks * (uint64_t)s->ticks_ns,
				     .tgid = (uint32_t)p->pid };
}

static int64_t since(int64_t now, int64_t before)
{
	return now < 0 || before < 0 ? UNKNOWN : now - before;
}

/* Of a process that was there before only what came since. */
static void take_off_before(const struct source_proc *s, const struct seen *p,
			    struct exit_record *r)
{
	r->cpu_user_ns -= ticks(s, p->before.utime_ticks);
	r->cpu_system_ns -= ticks(s, p->before.stime_ticks);
	r->cpu_ns = r->cpu_user_ns + r->cpu_system_ns;
	r->minor_faults -= (int64_t)p->before.minor_faults;
	r->major_faults -= (int64_t)p->before.major_faults;
	r->io = (struct io_counts){
		.read_bytes = since(p->io.read_bytes, p->io_before.read_bytes),
		.write_bytes = since(p->io.write_bytes, p->io_before.write_bytes),
		.cancelled_write_bytes =
			since(p->io.cancelled_write_bytes, p->io_before.cancelled_write_bytes),
		.rchar = since(p->io.rchar, p->io_before.rchar),
		.wchar = since(p->io.wchar, p->io_before.wchar),
		.syscr = since(p->io.syscr, p->io_before.syscr),
		.syscw = since(p->io.syscw, p->io_before.syscw),
	};
	if (r->peak_rss_bytes > p->mark_before_bytes)
		return;
	r->peak_source = PEAK_LIFETIME;
	r->peak_since_bytes = p->rss_max_bytes;
}

static int hand_on(struct source_proc *s, struct seen *p, bool running)
{
	struct exit_record r = {
		.key = key_of(s, p),
		.pid = p->pid,
		.ppid = p->ppid,
		.running = running,
		.born_ns = p->born_ns,
		.ended_ns = p->reaped ? p->reaped_ns : UNKNOWN,
		.wait_status = p->reaped ? p->wait_status : UNKNOWN,
		.oom_killed = UNKNOWN,
		.peak_rss_bytes = p->has_status ? p->status.vm_hwm_bytes : UNKNOWN,
		.peak_error_bytes = UNKNOWN,
		.inherited_rss_bytes = UNKNOWN,
		.peak_vm_bytes = p->has_status ? p->status.vm_peak_bytes : UNKNOWN,
		.split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
		.cpu_ns = UNKNOWN,
		.cpu_user_ns = UNKNOWN,
		.cpu_system_ns = UNKNOWN,
		.threads = UNKNOWN,
		.execs = UNKNOWN,
		.minor_faults = UNKNOWN,
		.major_faults = UNKNOWN,
		.voluntary_switches = UNKNOWN,
		.involuntary_switches = UNKNOWN,
		.io = p->io,
	};

	if (p->has_stat) {
		r.cpu_user_ns = ticks(s, p->stat.utime_ticks);
		r.cpu_system_ns = ticks(s, p->stat.stime_ticks);
		r.cpu_ns = r.cpu_user_ns + r.cpu_system_ns;
		r.minor_faults = (int64_t)p->stat.minor_faults;
		r.major_faults = (int64_t)p->stat.major_faults;
	}
	if (r.peak_rss_bytes >= 0)
		r.peak_source = PEAK_VMHWM;
	if (p->taken_in)
		take_off_before(s, p, &r);
	memcpy(r.comm, p->stat.comm, strnlen(p->stat.comm, sizeof(r.comm) - 1));
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

static int drop(struct source_proc *s, struct seen *p)
{
	int err = hand_on(s, p, false);

	HASH_DEL(s->by_pid, p);
	free(p);
	return err;
}

/* The process of @st, new or known; a pid that is used again ends the one before. */
static struct seen *meet(struct source_proc *s, const struct proc_stat *st)
{
	struct seen *p = find(s, st->pid);

	if (p && !same(p, st)) {
		drop(s, p);
		p = NULL;
	}
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = st->pid;
		p->ppid = st->ppid;
		p->io = no_io;
		p->born_ns = ticks(s, st->start_ticks) - s->boot_ns;
		HASH_ADD_INT(s->by_pid, pid, p);
	}
	p->stat = *st;
	p->has_stat = true;
	p->pass = s->pass;
	return p;
}

/* Its arguments, again whenever its name changes: that is as much of an exec as can be seen. */
static int read_image(struct source_proc *s, struct seen *p)
{
	struct exec_record r = { .key = key_of(s, p) };
	char argv[ARGV_MAX];
	ssize_t len;

	if (!s->taken_in || !strcmp(p->argv_of, p->stat.comm))
		return 0; /* nobody takes records before all is open */
	len = scan_cmdline(p->pid, argv, sizeof(argv));
	if (len <= 0)
		return 0;
	memcpy(p->argv_of, p->stat.comm, sizeof(p->argv_of));
	memcpy(r.comm, p->stat.comm, strnlen(p->stat.comm, sizeof(r.comm) - 1));
	r.argv = argv;
	r.argv_len = (size_t)len;
	r.argv_known = true;
	r.argv_truncated = len == sizeof(argv);
	return s->base.sink.on_exec(s->base.sink.ctx, &r);
}

struct sums {
	struct scan_result scan;
	int64_t user_ns, system_ns;
};

static void look_at(struct source_proc *s, struct seen *p, struct sums *sum)
{
	struct scan_result *r = &sum->scan;
	struct proc_status st;

	/* Its own, and what it has waited for (SPEC U-12). */
	sum->user_ns += ticks(s, p->stat.utime_ticks) + ticks(s, (uint64_t)p->stat.cutime_ticks);
	sum->system_ns += ticks(s, p->stat.stime_ticks) + ticks(s, (uint64_t)p->stat.cstime_ticks);
	r->processes++;
	r->threads += p->stat.threads;
	if (scan_status(p->pid, &st) || st.vm_rss_bytes < 0)
		return;
	if (p->has_status && p->status.vm_hwm_bytes > st.vm_hwm_bytes)
		st.vm_hwm_bytes = p->status.vm_hwm_bytes; /* an image before the last exec */
	p->status = st;
	p->has_status = true;
	p->rss_max_bytes = larger(p->rss_max_bytes, st.vm_rss_bytes);
	scan_io(p->pid, &p->io);
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
	p->io_before = p->io;
	p->mark_before_bytes = p->has_status ? p->status.vm_hwm_bytes : UNKNOWN;
}

/* One pass over /proc: the living summed up, the gone handed on. */
static int look(struct source_proc *s, struct sums *sum)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	struct seen *p, *next;
	size_t n;
	struct entry *all = read_all(&n);
	int err = 0;

	*sum = (struct sums){ 0 };
	s->pass++;
	find_members(s, all, n);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].member || all[i].stat.state == 'Z')
			continue;
		p = meet(s, &all[i].stat);
		if (!p)
			continue;
		if (!err)
			err = read_image(s, p);
		look_at(s, p, sum);
		if (s->roots && !s->taken_in)
			note_before(p);
	}
	free(all);
	HASH_ITER (hh, s->by_pid, p, next)
		if (!err && p->pass != s->pass)
			err = drop(s, p);
	sum->scan.complete = true;
	sum->scan.duration_ns = clock_ns(CLOCK_MONOTONIC) - start;
	return err;
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
		.baseline_cpu_ns = s->roots ? s->base_user_ns + s->base_system_ns : UNKNOWN,
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
		.io = no_io,
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
	int err = look(s, &sum);

	totals_of(s, &sum, &ret->totals);
	ret->scanned = true;
	ret->scan = sum.scan;
	return err;
}

static void proc_reaped(struct source *base, pid_t pid, int status, const struct rusage *ru)
{
	struct source_proc *s = self(base);
	int64_t maxrss = ru->ru_maxrss * 1024;
	struct seen *p = find(s, pid);
	size_t i = stranger(s, pid);

	if (i < s->n_strangers) { /* the pid may come again */
		s->strangers[i] = s->strangers[--s->n_strangers];
		return;
	}
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
				    .io = no_io,
				    .born_ns = UNKNOWN,
				    .stat.comm = "" };
		HASH_ADD_INT(s->by_pid, pid, p);
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
	int err = look(s, &sum);

	(void)root_ended;
	totals_of(s, &sum, ret);
	HASH_ITER (hh, s->by_pid, p, next)
		if (!err)
			err = hand_on(s, p, true);
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
	.reaped = proc_reaped,
	.close = proc_close,
};

/* Takes in the tree that is there. */
static int take_in(struct source_proc *s)
{
	struct sums sum;
	int err = look(s, &sum);

	s->base_user_ns = sum.user_ns;
	s->base_system_ns = sum.system_ns;
	s->initial = sum.scan.processes;
	return err || s->initial ? err : -ECHILD;
}

int source_proc_open(const struct source_options *o, const struct source_sink *sink,
		     struct source **ret_source, char *why, size_t cap)
{
	struct source_proc *s = calloc(1, sizeof(*s));
	struct proc_status own;
	int err = 0;

	if (!s) {
		snprintf(why, cap, "out of memory");
		return -ENOMEM;
	}
	s->base = (struct source){ .ops = &proc_ops,
				   .sink = *sink,
				   .info = { .exits = "proc", .tree = "ppid", .samples = "proc" } };
	s->root = o->root;
	if (find_strangers(s)) {
		snprintf(why, cap, "out of memory");
		free(s);
		return -ENOMEM;
	}
	s->ticks_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	s->boot_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	s->floor_bytes = scan_status(getpid(), &own) ? INT64_MAX : own.vm_hwm_bytes;
	s->maxrss_bytes = s->processes_max = s->threads_max = UNKNOWN;
	s->initial = 1;
	if (o->n_roots) {
		s->roots = o->roots;
		s->n_roots = o->n_roots;
		err = take_in(s);
	} else {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	if (err) {
		snprintf(why, cap, "the process ended while it was attached to");
		proc_close(&s->base);
		return err;
	}
	s->taken_in = true;
	*ret_source = &s->base;
	return 0;
}
