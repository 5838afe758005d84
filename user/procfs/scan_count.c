// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan_count - what the living have used, and their high-water marks
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfs/scan_table.h"
#include "units.h"

#define FILE_MAX    4096
#define THREADS_MAX 64 /* of a process: beyond them switches are not looked up thread by thread */

static const struct scan_counters nothing = { 0 };

static void add(int64_t *sum, int64_t v)
{
	*sum = count_add(*sum, v);
}

static void add_all(struct scan_counters *sum, const struct scan_counters *c)
{
	add(&sum->user_ns, c->user_ns);
	add(&sum->system_ns, c->system_ns);
	add(&sum->minor_faults, c->minor_faults);
	add(&sum->major_faults, c->major_faults);
	add(&sum->voluntary_switches, c->voluntary_switches);
	add(&sum->involuntary_switches, c->involuntary_switches);
	io_add(&sum->io, &c->io);
}

static ssize_t read_at(int dir, const char *thread, const char *file, char *buf, size_t cap)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", thread, file);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, cap);
	close(fd);
	return n;
}

static struct io_counts io_of(const struct proc_io *io)
{
	return (struct io_counts){ io->read_bytes, io->write_bytes, io->cancelled_write_bytes,
				   io->rchar,      io->wchar,       io->syscr,
				   io->syscw };
}

/* What one thread has; one that ended meanwhile has nothing. */
static void count_thread(int dir, const char *thread, struct scan_counters *c)
{
	char buf[FILE_MAX];
	ssize_t n = read_at(dir, thread, "status", buf, sizeof(buf));
	struct proc_status st;
	struct proc_io io;
	struct io_counts counts = io_unknown;

	if (n <= 0 || proc_status_parse(buf, (size_t)n, &st))
		return;
	add(&c->voluntary_switches, st.voluntary_switches);
	add(&c->involuntary_switches, st.involuntary_switches);
	n = read_at(dir, thread, "io", buf, sizeof(buf));
	if (n > 0 && !proc_io_parse(buf, (size_t)n, &io))
		counts = io_of(&io);
	io_add(&c->io, &counts);
}

/*
 * /proc/PID/status has the leader's switches only, and /proc/PID/io what children that were waited
 * for did as well: each thread is asked.  Those that ended are not there.
 */
static void count_threads(const struct watched *w, struct scan_counters *c)
{
	struct dirent *d;
	char path[64];
	DIR *dir;

	if (w->status.threads > THREADS_MAX)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	dir = opendir(path);
	if (!dir)
		return;
	c->voluntary_switches = c->involuntary_switches = 0;
	c->io = nothing.io;
	while ((d = readdir(dir)))
		if (*d->d_name != '.')
			count_thread(dirfd(dir), d->d_name, c);
	closedir(dir);
}

/* Of one thread: its files can be kept. */
static void count_leader(struct scan *s, struct watched *w, struct scan_counters *c)
{
	char buf[FILE_MAX];
	struct proc_io io;
	size_t len = 0;

	c->voluntary_switches = w->status.voluntary_switches;
	c->involuntary_switches = w->status.involuntary_switches;
	if (!watched_file(s, w, WATCHED_IO, buf, sizeof(buf), &len) &&
	    !proc_io_parse(buf, len, &io))
		c->io = io_of(&io);
}

static bool count_one(struct scan *s, struct watched *w, struct scan_counters *c)
{
	static int64_t tick_ns;
	char buf[FILE_MAX];
	struct proc_stat stat;
	size_t len = 0;

	if (!tick_ns)
		tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	if (watched_file(s, w, WATCHED_STAT, buf, sizeof(buf), &len) ||
	    proc_stat_parse(buf, len, &stat))
		return false; /* vanished: its end is on its way */
	*c = (struct scan_counters){
		.user_ns = (int64_t)stat.utime_ticks * tick_ns,
		.system_ns = (int64_t)stat.stime_ticks * tick_ns,
		.minor_faults = (int64_t)stat.minor_faults,
		.major_faults = (int64_t)stat.major_faults,
		.voluntary_switches = UNKNOWN,
		.involuntary_switches = UNKNOWN,
		.io = io_unknown,
	};
	if (w->status.threads > 1)
		count_threads(w, c);
	else
		count_leader(s, w, c);
	return true;
}

/* Of one that was there before only what came since. */
static void take_off(struct scan_counters *c, const struct scan_counters *b)
{
	c->user_ns = count_since(c->user_ns, b->user_ns);
	c->system_ns = count_since(c->system_ns, b->system_ns);
	c->minor_faults = count_since(c->minor_faults, b->minor_faults);
	c->major_faults = count_since(c->major_faults, b->major_faults);
	c->voluntary_switches = count_since(c->voluntary_switches, b->voluntary_switches);
	c->involuntary_switches = count_since(c->involuntary_switches, b->involuntary_switches);
	io_subtract(&c->io, &b->io);
}

static bool read_status(struct scan *s, struct watched *w)
{
	char buf[FILE_MAX];
	size_t len = 0;

	return !watched_file(s, w, WATCHED_STATUS, buf, sizeof(buf), &len) &&
	       !proc_status_parse(buf, len, &w->status);
}

void scan_count(struct scan *s, uint32_t run, struct scan_counters *ret)
{
	struct watched *w = s->round;
	struct scan_counters sum = nothing;

	for (size_t i = 0; i < s->n; i++, w = w->next) {
		struct scan_counters c;

		if (run && (w->run != run || !read_status(s, w)))
			continue;
		if (!count_one(s, w, &c))
			continue;
		take_off(&c, &w->before);
		add_all(&sum, &c);
		if (!w->shared_mm && w->status.vm_hwm_bytes > 0)
			sum.marks_bytes += w->status.vm_hwm_bytes;
	}
	*ret = sum;
}

void scan_count_from_now(struct scan *s, struct process_key key)
{
	struct watched *w = scan_find(s, key);

	if (w && read_status(s, w))
		count_one(s, w, &w->before);
}

/* 5 sets VmHWM to VmRSS: Documentation/filesystems/proc.rst */
static bool reset_one(const struct watched *w)
{
	char path[32];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)w->pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, "5", 1) == 1;
	close(fd);
	return done;
}

size_t scan_reset_marks(struct scan *s, uint32_t run, scan_mark_fn before, void *ctx, size_t *ret_n)
{
	struct watched *w = s->round;
	size_t done = 0;

	*ret_n = 0;
	for (size_t i = 0; i < s->n; i++, w = w->next) {
		char buf[FILE_MAX];
		struct proc_status st;
		size_t len = 0;

		if (w->shared_mm || (run && w->run != run) ||
		    watched_file(s, w, WATCHED_STATUS, buf, sizeof(buf), &len) ||
		    proc_status_parse(buf, len, &st) || st.vm_hwm_bytes < 0)
			continue;
		++*ret_n;
		before(ctx, w->key, w->run, st.vm_hwm_bytes);
		done += reset_one(w);
	}
	return done;
}
