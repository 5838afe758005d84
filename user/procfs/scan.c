// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan_table.h"
#include "units.h"

#define FILE_MAX       4096 /* status, stat and io are shorter */
#define BUDGET_STEP    8    /* processes between two looks at the clock */
#define CPUCLOCK_SCHED 2    /* include/linux/posix-timers_types.h */

static int read_fd(int fd, char *buf, size_t cap, size_t *ret_len)
{
	ssize_t n = pread(fd, buf, cap, 0);

	if (n < 0)
		return -errno;
	*ret_len = (size_t)n;
	return n ? 0 : -ESRCH;
}

static int read_file(const char *path, char *buf, size_t cap, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = read_fd(fd, buf, cap, ret_len);
	close(fd);
	return err;
}

int scan_available(void)
{
	static int known = 1;
	char link[32];
	ssize_t n;

	if (known != 1)
		return known;
	n = readlink("/proc/self", link, sizeof(link) - 1);
	if (n < 0)
		return known = -errno;
	link[n] = '\0';
	return known = atoi(link) == getpid() ? 0 : -ESRCH;
}

static bool may_trace(void)
{
	char buf[FILE_MAX + 1];
	size_t len = 0;
	const char *at;

	if (read_file("/proc/self/status", buf, FILE_MAX, &len))
		return false;
	buf[len] = '\0';
	at = strstr(buf, "\nCapEff:");
	return at && strtoull(at + 8, NULL, 16) >> CAP_SYS_PTRACE & 1;
}

bool scan_hides_others(void)
{
	char line[4096], *type, *hide;
	bool hidden = false;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	/* The last one mounted there is the one that is seen. */
	while (f && fgets(line, sizeof(line), f)) {
		type = strstr(line, " - proc ");
		if (!type || !strstr(line, " /proc "))
			continue;
		hide = strstr(type, "hidepid=");
		hidden = hide && strncmp(hide + 8, "0", 1) != 0 && strncmp(hide + 8, "off", 3) != 0;
	}
	if (f)
		fclose(f);
	return hidden && !may_trace();
}

static int read_proc(pid_t pid, const char *name, char *buf, size_t cap, size_t *ret_len)
{
	char path[64];
	int err = scan_available();

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return read_file(path, buf, cap, ret_len);
}

int scan_stat(pid_t pid, struct proc_stat *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = read_proc(pid, "stat", buf, sizeof(buf), &len);

	return err ? err : proc_stat_parse(buf, len, ret);
}

int scan_status(pid_t pid, struct proc_status *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = read_proc(pid, "status", buf, sizeof(buf), &len);

	return err ? err : proc_status_parse(buf, len, ret);
}

struct found *scan_all(size_t *ret_n)
{
	struct found *all = NULL, *more;
	DIR *dir = opendir("/proc");
	size_t n = 0, cap = 0;
	struct dirent *d;

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
		all[n] = (struct found){ .member = false };
		if (!scan_stat(atoi(d->d_name), &all[n].stat))
			n++;
	}
	if (dir)
		closedir(dir);
	*ret_n = n;
	return all;
}

ssize_t scan_arguments(pid_t pid, char *args, size_t cap)
{
	size_t len = 0;
	int err = read_proc(pid, "cmdline", args, cap, &len);

	return err ? err : (ssize_t)len;
}

ssize_t scan_cmdline(pid_t pid, char *args, size_t cap)
{
	ssize_t len = scan_arguments(pid, args, cap);

	/* Who writes a title there leaves the rest of it empty. */
	while (len > 1 && !args[len - 1] && !args[len - 2])
		len--;
	return len;
}

int scan_kin(pid_t pid, struct proc_kin *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = read_proc(pid, "status", buf, sizeof(buf), &len);

	return err ? err : proc_kin_parse(buf, len, ret);
}

int scan_statm(pid_t pid, struct proc_statm *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = read_proc(pid, "statm", buf, sizeof(buf), &len);

	return err ? err : proc_statm_parse(buf, len, ret);
}

int scan_rollup(pid_t pid, struct proc_rollup *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = read_proc(pid, "smaps_rollup", buf, sizeof(buf), &len);

	return err ? err : proc_rollup_parse(buf, len, ret);
}

static int read_io(pid_t pid, const char *name, struct io_counts *ret)
{
	char buf[FILE_MAX];
	struct proc_io io;
	size_t len = 0;
	int err = read_proc(pid, name, buf, sizeof(buf), &len);

	if (!err)
		err = proc_io_parse(buf, len, &io);
	if (!err)
		*ret = (struct io_counts){ .read_bytes = io.read_bytes,
					   .write_bytes = io.write_bytes,
					   .cancelled_write_bytes = io.cancelled_write_bytes,
					   .rchar = io.rchar,
					   .wchar = io.wchar,
					   .syscr = io.syscr,
					   .syscw = io.syscw };
	return err;
}

int scan_io(pid_t pid, struct io_counts *ret)
{
	return read_io(pid, "io", ret);
}

int64_t scan_cpu_ns(pid_t pid)
{
	clockid_t clock = (clockid_t)(~(unsigned int)pid << 3 | CPUCLOCK_SCHED);
	struct timespec t;

	if (clock_gettime(clock, &t))
		return UNKNOWN;
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int scan_thread_io(pid_t tid, struct io_counts *ret)
{
	char name[32];

	snprintf(name, sizeof(name), "task/%d/io", (int)tid);
	return read_io(tid, name, ret);
}

int scan_vmstat(struct proc_vmstat *ret)
{
	char buf[4 * FILE_MAX];
	size_t len = 0;
	int err = read_file("/proc/vmstat", buf, sizeof(buf), &len);

	return err ? err : proc_vmstat_parse(buf, len, ret);
}

struct scan *scan_new(void)
{
	return calloc(1, sizeof(struct scan));
}

struct watched *scan_find(struct scan *s, struct process_key key)
{
	struct watched *w;
	struct process_key k;

	memset(&k, 0, sizeof(k)); /* padding is hashed */
	k.start_ns = key.start_ns;
	k.tgid = key.tgid;
	HASH_FIND(hh, s->by_key, &k, sizeof(k), w);
	return w;
}

static void unlink_watched(struct scan *s, struct watched *w)
{
	HASH_DEL(s->by_key, w); // NOLINT(clang-analyzer-core.NullDereference): it is in the table
	if (w->next == w)
		s->round = NULL;
	else if (s->round == w)
		s->round = w->next;
	w->next->prev = w->prev;
	w->prev->next = w->next;
	for (size_t i = 0; i < WATCHED_FILES; i++)
		if (w->fds[i] >= 0) {
			close(w->fds[i]);
			s->kept--;
		}
	s->n--;
	free(w);
}

void scan_free(struct scan *s)
{
	while (s && s->round)
		unlink_watched(s, s->round);
	free(s);
}

int scan_add(struct scan *s, struct process_key key, pid_t pid, int64_t inherited, bool shared_mm)
{
	struct watched *w;

	if (scan_find(s, key))
		return -EEXIST;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->key.start_ns = key.start_ns;
	w->key.tgid = key.tgid;
	w->pid = pid;
	for (size_t i = 0; i < WATCHED_FILES; i++)
		w->fds[i] = -1;
	w->inherited = inherited > 0 ? inherited : 0;
	w->shared_mm = shared_mm;
	HASH_ADD(hh, s->by_key, key, sizeof(w->key), w);
	if (!hash_is_in(w)) {
		free(w);
		return -ENOMEM;
	}
	if (s->round) {
		w->next = s->round;
		w->prev = s->round->prev;
		w->prev->next = w;
		w->next->prev = w;
	} else {
		w->next = w->prev = s->round = w;
	}
	s->n++;
	return 0;
}

void scan_set_run(struct scan *s, struct process_key key, uint32_t run)
{
	struct watched *w = scan_find(s, key);

	if (w)
		w->run = run;
}

void scan_exec(struct scan *s, struct process_key key)
{
	struct watched *w = scan_find(s, key);

	if (w) {
		w->inherited = 0;
		w->shared_mm = false;
		w->read_before = false;
	}
}

void scan_remove(struct scan *s, struct process_key key)
{
	struct watched *w = scan_find(s, key);

	if (w)
		unlink_watched(s, w);
}

int watched_file(struct scan *s, struct watched *w, enum watched_file which, char *buf, size_t cap,
		 size_t *ret_len)
{
	static const char *const names[] = { "status", "stat", "io" };
	int err, fd = w->fds[which], pid = (int)w->pid;
	char path[64];

	if (fd < 0) {
		if (which == WATCHED_IO) /* its thread's own, see scan_count.c */
			snprintf(path, sizeof(path), "/proc/%d/task/%d/io", pid, pid);
		else
			snprintf(path, sizeof(path), "/proc/%d/%s", pid, names[which]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (s->kept < KEPT_FDS) {
			w->fds[which] = fd;
			s->kept++;
		}
	}
	err = read_fd(fd, buf, cap, ret_len);
	if (fd != w->fds[which])
		close(fd);
	return err;
}

static int watched_read(struct scan *s, struct watched *w, struct proc_status *ret)
{
	char buf[FILE_MAX];
	size_t len = 0;
	int err = watched_file(s, w, WATCHED_STATUS, buf, sizeof(buf), &len);

	return err ? err : proc_status_parse(buf, len, ret);
}

static int64_t known(int64_t v)
{
	return v > 0 ? v : 0;
}

static bool asleep(char state)
{
	return state == 'S' || state == 'D' || state == 'T' || state == 't';
}

/*
 * A process of one thread that slept at both readings and was not switched in between cannot have
 * changed its own memory (SPEC U-131).
 */
static void see_outside(struct watched *w, const struct proc_status *st, struct scan_result *r)
{
	int64_t switches = st->voluntary_switches + st->involuntary_switches;
	bool sleeps = st->threads == 1 && asleep(st->state);
	int64_t rss = known(st->vm_rss_bytes);

	if (w->read_before && w->slept && sleeps && w->switches == switches && w->rss != rss) {
		r->outside_changed = true;
		if (rss > w->rss)
			r->outside_grown_bytes += rss - w->rss;
	}
	w->read_before = true;
	w->slept = sleeps;
	w->switches = switches;
	w->rss = rss;
}

static void add_split(struct rss_split *sum, const struct proc_status *st)
{
	sum->anon_bytes += known(st->rss_anon_bytes);
	sum->file_bytes += known(st->rss_file_bytes);
	sum->shmem_bytes += known(st->rss_shmem_bytes);
	sum->swap_bytes += known(st->vm_swap_bytes);
	sum->hugetlb_bytes += known(st->hugetlb_bytes);
}

static void read_one(struct scan *s, struct watched *w, struct scan_result *r)
{
	struct proc_status st = { 0 };
	int64_t rss;

	if (watched_read(s, w, &st)) /* vanished: its end is on its way */
		return;
	w->status = st;
	r->threads += known(st.threads);
	r->processes++;
	r->awake += st.threads != 1 || !asleep(st.state);
	if (w->shared_mm)
		return;
	see_outside(w, &st, r);
	rss = known(st.vm_rss_bytes);
	r->rss_bytes += rss;
	r->net_rss_bytes += rss > w->inherited ? rss - w->inherited : 0;
	add_split(&r->split, &st);
}

/* The smaller of two readings of each, in the same order. */
static void confirm_all(struct scan *s, struct scan_result *r)
{
	struct watched *w = s->round;
	struct proc_status st = { 0 };

	r->rss_bytes = r->net_rss_bytes = 0;
	for (size_t i = 0; i < s->n; i++, w = w->next) {
		int64_t rss = 0;

		if (w->shared_mm)
			continue;
		if (w->read_before && !watched_read(s, w, &st))
			rss = known(st.vm_rss_bytes);
		if (rss > w->rss)
			rss = w->rss;
		r->rss_bytes += rss;
		r->net_rss_bytes += rss > w->inherited ? rss - w->inherited : 0;
	}
}

void scan_pass(struct scan *s, int64_t budget_ns, bool confirm, struct scan_result *ret)
{
	struct scan_result r = { 0 };
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (budget_ns && i && i % BUDGET_STEP == 0 &&
		    clock_ns(CLOCK_MONOTONIC) - start > budget_ns)
			break;
		read_one(s, s->round, &r);
		s->round = s->round->next;
	}
	r.complete = i == s->n;
	if (r.complete && confirm && s->n)
		confirm_all(s, &r);
	r.duration_ns = clock_ns(CLOCK_MONOTONIC) - start;
	*ret = r;
}
