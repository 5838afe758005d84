// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_ptrace_reading.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "units.h"

#define SPLIT_RSS_PAGES   64 /* TASK_RSS_EVENTS_THRESH, up to 6.1 */
#define BATCH_LEAST       32 /* lib/percpu_counter.c */
#define RSS_COUNTERS      3
#define THREADS_READ_MOST 32 /* a pool; of thousands each reading would be felt */
#define TEST_PAGES        13

/*
 * Whether status shows what the page tables hold or is behind by what CPUs or threads keep for
 * themselves: asked of our own, page by page, against the kernel's walk.
 */
static bool status_is_exact(int64_t page_bytes)
{
	size_t len = TEST_PAGES * (size_t)page_bytes;
	char *area = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct proc_status status = { 0 };
	bool exact = area != MAP_FAILED;
	struct proc_rollup rollup = { 0 };

	for (size_t i = 0; exact && i < TEST_PAGES; i++) {
		area[i * (size_t)page_bytes] = 1;
		/* The first readings touch pages of their own. */
		exact = !scan_status(getpid(), &status) && !scan_rollup(getpid(), &rollup) &&
			(i < 2 || status.vm_rss_bytes == rollup.rss_bytes);
	}
	if (area != MAP_FAILED)
		munmap(area, len);
	return exact;
}

struct reader reader_open(void)
{
	int64_t cpus = sysconf(_SC_NPROCESSORS_CONF), batch = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	struct reader r = { .tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK),
			    .page_bytes = sysconf(_SC_PAGESIZE) };

	if (batch < BATCH_LEAST)
		batch = BATCH_LEAST;
	r.slack_bytes = RSS_COUNTERS * (batch - 1) * cpus * r.page_bytes;
	r.thread_slack_bytes = SPLIT_RSS_PAGES * r.page_bytes;
	r.status_exact = status_is_exact(r.page_bytes);
	return r;
}

int reading_take(const struct reader *r, pid_t tid, struct reading *ret)
{
	struct proc_status st;
	struct proc_rollup rollup;
	int err = scan_status(tid, &st);

	if (!err && st.vm_rss_bytes < 0)
		err = -1; /* its address space is gone */
	if (err)
		return err;
	*ret = (struct reading){ .rss_bytes = st.vm_rss_bytes,
				 .mark_bytes = st.vm_hwm_bytes,
				 .vm_peak_bytes = st.vm_peak_bytes,
				 .split = { st.rss_anon_bytes, st.rss_file_bytes,
					    st.rss_shmem_bytes, st.vm_swap_bytes,
					    st.hugetlb_bytes } };
	if (!r->status_exact && !scan_rollup(tid, &rollup))
		ret->rss_bytes = rollup.rss_bytes;
	return 0;
}

int64_t reading_slack(const struct reader *r, const struct member *m)
{
	int64_t by_threads = m->threads_ever * r->thread_slack_bytes;

	return !r->status_exact && by_threads > r->slack_bytes ? by_threads : r->slack_bytes;
}

void reading_before(const struct reader *r, struct member *m, pid_t tid)
{
	struct before *b = &m->before;
	struct proc_stat stat;
	struct proc_status status;
	struct reading now;

	*b = (struct before){ .io = io_unknown, .voluntary = UNKNOWN, .involuntary = UNKNOWN };
	b->cpu_ns = scan_cpu_ns(m->tgid);
	if (!scan_stat(m->tgid, &stat)) {
		b->minor_faults = (int64_t)stat.minor_faults;
		b->major_faults = (int64_t)stat.major_faults;
		b->utime_ticks = (int64_t)stat.utime_ticks;
		b->stime_ticks = (int64_t)stat.stime_ticks;
	}
	if (!scan_status(m->tgid, &status)) {
		b->voluntary = status.voluntary_switches;
		b->involuntary = status.involuntary_switches;
	}
	if (m->threads > 1)
		scan_io(m->tgid, &b->io);
	else
		scan_thread_io(m->tgid, &b->io);
	b->mark_bytes = reading_take(r, tid, &now) ? 0 : now.mark_bytes;
}

static void add(int64_t *sum, int64_t v)
{
	*sum = count_add(*sum, v);
}

void reading_of_thread(struct member *m, pid_t tid)
{
	struct proc_status status;

	if (m->threads_unread)
		return;
	if (m->threads_read++ == THREADS_READ_MOST || scan_status(tid, &status)) {
		m->threads_unread = true;
		return;
	}
	add(&m->threads_voluntary, status.voluntary_switches);
	add(&m->threads_involuntary, status.involuntary_switches);
}

/* Without children in it, and from the start, the kernel's sum of the whole is its own. */
static bool sums_are_own(const struct member *m)
{
	return !m->has_children && !m->taken_in;
}

void reading_io(struct member *m, pid_t tid)
{
	struct io_counts io;

	if (!m->alive && sums_are_own(m)) {
		m->has_io = !scan_io(tid, &m->io);
		return;
	}
	if (m->io_unread)
		return;
	if (m->io_read++ > THREADS_READ_MOST || scan_thread_io(tid, &io))
		m->io_unread = true;
	else
		io_add(&m->threads_io, &io);
}

/* --- the row ------------------------------------------------------------------------------- */

static void peak_of_image(const struct reader *r, const struct member *m, bool running,
			  struct exit_record *ret)
{
	const struct reading *last = &m->last;
	bool mark = last->mark_bytes > last->rss_bytes;

	ret->split = last->split;
	ret->peak_vm_bytes = last->vm_peak_bytes;
	ret->peak_rss_bytes = mark ? last->mark_bytes : last->rss_bytes;
	ret->final_peak_bytes = ret->peak_rss_bytes;
	ret->peak_source = running ? PEAK_VMHWM : PEAK_EXIT;
	ret->notes |= mark ? NOTE_HIWATER : 0;
	ret->notes |= running || m->seen_last ? 0 : NOTE_REPAIRED;
	if (running || !m->seen_last)
		return;
	ret->peak_error_bytes = mark ? reading_slack(r, m) : 0;
	ret->peak_rss_exact = !mark;
}

/* An image before an exec is known by the kernel's mark alone, perhaps only as a bound. */
static void peak_of_images(const struct reader *r, const struct member *m, struct exit_record *ret)
{
	int64_t own = ret->peak_rss_bytes, least = m->images_bytes, most;

	if (m->images_most_bytes < 0)
		return;
	most = m->images_most_bytes + reading_slack(r, m);
	if (least > own) {
		ret->peak_rss_bytes = least;
		ret->peak_error_bytes = most - least;
		ret->peak_source = PEAK_RUSAGE;
		ret->notes |= NOTE_HIWATER;
		ret->peak_rss_exact = 0;
	} else if (most > own) {
		ret->peak_rss_exact = 0;
		if (ret->peak_error_bytes >= 0 && ret->peak_error_bytes < most - own)
			ret->peak_error_bytes = most - own;
	}
}

static void take_off_before(const struct member *m, struct exit_record *r)
{
	if (r->peak_rss_bytes < 0 || r->peak_rss_bytes > m->before.mark_bytes)
		return;
	r->peak_since_bytes = m->seen ? m->last.rss_bytes : UNKNOWN;
	r->peak_source = PEAK_LIFETIME;
	r->peak_rss_exact = 0;
	r->peak_error_bytes = UNKNOWN;
}

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * NS_PER_S + (int64_t)t.tv_usec * NS_PER_US;
}

/* Without children in it rusage is the process's own. */
static void counts_of_rusage(const struct rusage *ru, struct exit_record *r)
{
	cpu_split(r->cpu_ns, timeval_ns(ru->ru_utime), timeval_ns(ru->ru_stime), &r->cpu_user_ns,
		  &r->cpu_system_ns);
	r->minor_faults = ru->ru_minflt;
	r->major_faults = ru->ru_majflt;
	r->voluntary_switches = ru->ru_nvcsw;
	r->involuntary_switches = ru->ru_nivcsw;
}

/* What tells own counters from those of children it waited for: stat, and single threads. */
static void counts_of_proc(const struct member *m, const struct proc_stat *stat,
			   struct exit_record *r)
{
	struct proc_status status;

	cpu_split(r->cpu_ns, (int64_t)stat->utime_ticks - m->before.utime_ticks,
		  (int64_t)stat->stime_ticks - m->before.stime_ticks, &r->cpu_user_ns,
		  &r->cpu_system_ns);
	r->minor_faults = (int64_t)stat->minor_faults - m->before.minor_faults;
	r->major_faults = (int64_t)stat->major_faults - m->before.major_faults;
	if (r->running ? m->threads > 1 || m->threads_ever > 1 : m->threads_unread)
		return;
	if (m->taken_in && m->threads_ever > 1)
		return;
	if (!scan_status(m->tgid, &status)) {
		r->voluntary_switches = status.voluntary_switches;
		r->involuntary_switches = status.involuntary_switches;
		add(&r->voluntary_switches, m->threads_voluntary);
		add(&r->involuntary_switches, m->threads_involuntary);
	}
	if (!m->taken_in)
		return;
	r->voluntary_switches = count_since(r->voluntary_switches, m->before.voluntary);
	r->involuntary_switches = count_since(r->involuntary_switches, m->before.involuntary);
}

static void io_of(const struct member *m, struct exit_record *r)
{
	bool single = m->threads_ever == 1;

	if (r->running && single)
		scan_thread_io(m->tgid, &r->io);
	else if (!r->running && sums_are_own(m) && m->has_io)
		r->io = m->io;
	else if (!r->running && !sums_are_own(m) && !m->io_unread && (single || !m->taken_in))
		r->io = m->threads_io;
	if (m->taken_in)
		io_subtract(&r->io, &m->before.io);
}

bool reading_record(const struct reader *r, const struct member *m, const struct rusage *ru,
		    struct exit_record *ret)
{
	struct proc_stat stat;
	bool there = !scan_stat(m->tgid, &stat);

	*ret = exit_record_unknown;
	ret->key = m->key;
	ret->pid = m->tgid;
	ret->ppid = m->creator;
	ret->running = !ru;
	ret->born_ns = m->born_ns;
	ret->inherited_rss_bytes = m->inherited_bytes;
	ret->cpu_ns = count_since(scan_cpu_ns(m->tgid), m->before.cpu_ns);
	ret->threads = m->threads_ever;
	ret->execs = m->execs;
	ret->notes = m->shares ? NOTE_SHARED_MM : 0;
	memcpy(ret->comm, m->comm, sizeof(ret->comm));
	if (there) {
		memset(ret->comm, 0, sizeof(ret->comm));
		memcpy(ret->comm, stat.comm, strnlen(stat.comm, sizeof(ret->comm) - 1));
	}
	io_of(m, ret);
	if (ru && sums_are_own(m))
		counts_of_rusage(ru, ret);
	else if (there)
		counts_of_proc(m, &stat, ret);
	if (m->seen && !m->shares)
		peak_of_image(r, m, !ru, ret);
	if (!m->shares)
		peak_of_images(r, m, ret);
	if (m->taken_in)
		take_off_before(m, ret);
	return there && ret->cpu_ns >= 0;
}
