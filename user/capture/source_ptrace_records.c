// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_ptrace_records - births, execs and ends as records and in the totals
 */
#include "capture/source_ptrace_tracer.h"

#include <stdlib.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "units.h"

#define ARGV_MAX  4096 /* INTERFACE 3 */
#define PUT_TRIES 500

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A counter once unknown stays so. */
static void add(int64_t *sum, int64_t v)
{
	*sum = *sum < 0 || v < 0 ? UNKNOWN : *sum + v;
}

/* --- address spaces ------------------------------------------------------------------------ */

static struct space *space_new(struct tracer *t)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->users = 1;
	space->most_bytes = UNKNOWN;
	space->birth = overlap_begin(&t->overlap);
	return space;
}

static void space_most(struct member *m, int64_t bytes)
{
	if (m->space)
		m->space->most_bytes = larger(m->space->most_bytes, bytes);
}

/* The last to leave it says what it came to. */
static void space_leave(struct tracer *t, struct member *m)
{
	struct space *space = m->space;

	m->space = NULL;
	if (!space) {
		t->sums.unbounded += !m->held;
		return;
	}
	if (--space->users)
		return;
	if (!space->birth || space->most_bytes < 0)
		t->sums.unbounded++;
	if (space->birth)
		overlap_end(&t->overlap, space->birth, larger(space->most_bytes, 0));
	t->sums.totals.upper_max_bytes = overlap_largest(&t->overlap);
	free(space);
}

/* What kcmp(2) says; where it is refused only a vfork is known to share. */
static bool same_space(const struct member *a, const struct member *b, bool vfork)
{
	long order = syscall(SYS_kcmp, a->tgid, b->tgid, KCMP_VM, 0, 0);

	return order < 0 ? vfork : !order;
}

/* --- images ------------------------------------------------------------------------------ */

static void read_name(struct member *m)
{
	struct proc_stat stat;

	if (scan_stat(m->tgid, &stat))
		return;
	memset(m->comm, 0, sizeof(m->comm));
	memcpy(m->comm, stat.comm, strnlen(stat.comm, sizeof(m->comm) - 1));
}

static void put_image(struct tracer *t, struct member *m, bool no_exec)
{
	struct exec_record r = { .key = m->key,
				 .at_ns = clock_ns(CLOCK_MONOTONIC),
				 .no_exec = no_exec };
	char argv[ARGV_MAX];
	ssize_t len = no_exec ? scan_cmdline(m->tgid, argv, sizeof(argv))
			      : scan_arguments(m->tgid, argv, sizeof(argv));

	read_name(m);
	memcpy(r.comm, m->comm, sizeof(r.comm));
	r.argv_known = len > 0;
	r.argv_len = len > 0 ? (size_t)len : 0;
	r.argv_truncated = len == sizeof(argv);
	t->sums.unwritten +=
		!share_put(t->share, SHARE_EXEC, &r, sizeof(r), argv, len > 0 ? (size_t)len : 0);
}

/* --- births -------------------------------------------------------------------------------- */

static void count_birth(struct tracer *t, const struct member *m)
{
	struct totals *sum = &t->sums.totals;

	if (m->taken_in || m->tgid == t->options->root)
		sum->initial++;
	else
		sum->forks++;
	sum->processes++;
	sum->processes_max = larger(sum->processes_max, sum->processes);
}

void tracer_born(struct tracer *t, struct member *m, const struct member *creator, bool vfork)
{
	struct share_fork f = { .cpu_before_ns = m->before.cpu_ns };
	struct proc_statm statm;

	m->held = !creator && !m->taken_in && m->tgid == t->options->root;
	m->shares = m->held || (creator && creator->space && same_space(m, creator, vfork));
	if (m->shares && !m->held) {
		m->space = creator->space;
		m->space->users++;
	} else if (!m->held) {
		m->space = space_new(t);
		m->inherited_bytes = m->taken_in || scan_statm(m->tgid, &statm)
					     ? UNKNOWN
					     : (int64_t)statm.resident_pages * t->reader.page_bytes;
	}
	count_birth(t, m);
	f.r = (struct fork_record){ .key = m->key,
				    .pid = m->tgid,
				    .ppid = m->creator,
				    .at_ns = m->born_ns,
				    .inherited_rss_bytes = larger(m->inherited_bytes, 0),
				    .shared_mm = m->shares,
				    .taken_in = m->taken_in };
	t->sums.unwritten += !share_put(t->share, SHARE_FORK, &f, sizeof(f), NULL, 0);
	if (m->taken_in)
		put_image(t, m, true);
}

/* --- execs --------------------------------------------------------------------------------- */

/*
 * The image that ended.  Its mark went into ru_maxrss, which holds also those before it, of
 * children that were waited for, and of a creator whose address space it had.
 */
static void close_image(struct tracer *t, struct member *m, const struct rusage *ru)
{
	int64_t maxrss = ru->ru_maxrss * 1024, least = UNKNOWN, most = maxrss;
	int64_t others = larger(m->maxrss_bytes, m->children_maxrss_bytes);
	int64_t shared = m->execs ? 0 : larger(m->inherited_bytes, 0);

	if (m->seen)
		least = larger(m->last.mark_bytes, m->last.rss_bytes);
	/* At the first of one that was there before it may be of any image before that. */
	if (maxrss > others && !(m->taken_in && !m->execs))
		least = larger(least, maxrss);
	if (m->held) {
		most = 0;
	} else if (!m->shares && !m->taken_in) {
		/* As far as it was its own (SPEC U-134). */
		least = least < 0 ? UNKNOWN : larger(least - shared, 0);
		m->images_bytes = larger(m->images_bytes, least);
		m->images_most_bytes = larger(m->images_most_bytes, larger(most - shared, 0));
	} else if (!m->shares) {
		m->images_bytes = larger(m->images_bytes, larger(least, m->before.mark_bytes));
		m->images_most_bytes = larger(m->images_most_bytes, most);
	}
	/* Of one that it shared it tells when nobody else is left to. */
	if (!m->shares || (m->space && m->space->users == 1))
		space_most(m, most ? most + reading_slack(&t->reader, m) : 0);
	m->maxrss_bytes = larger(m->maxrss_bytes, maxrss);
}

/* Our own program, which can trace, when it only tells of a span. */
static bool is_span(pid_t pid)
{
	char args[64];
	ssize_t len = scan_arguments(pid, args, sizeof(args) - 1);
	const char *second, *base;

	if (len <= 0)
		return false;
	args[len] = '\0';
	second = args + strlen(args) + 1;
	base = strrchr(args, '/');
	return second < args + len && !strcmp(second, "span") &&
	       !strcmp(base ? base + 1 : args, "exitmeter");
}

static void look_at_program(struct tracer *t, struct member *m)
{
	struct program_facts facts = { 0 };

	if (t->programs)
		facts = program_look(t->programs, m->tgid);
	if (facts.setuid && !t->privileged)
		tracer_remark(t, REMARK_SETUID, m);
	if (facts.unreadable && !t->privileged)
		tracer_remark(t, REMARK_UNREADABLE, m);
	if (facts.leak_sanitizer)
		tracer_let_go(t, m);
	else if (facts.tracer && !is_span(m->tgid))
		tracer_remark(t, REMARK_TRACER, m);
}

void tracer_execed(struct tracer *t, struct member *m)
{
	siginfo_t info;
	struct rusage ru;

	/* Taken: where the id has changed the kernel wants it seen before it lets it go on. */
	if (!syscall(SYS_waitid, P_PID, m->tgid, &info, WSTOPPED | WNOHANG | __WALL, &ru))
		close_image(t, m, &ru);
	space_leave(t, m);
	m->space = space_new(t);
	if (m->shares) /* it had no mark of its own before */
		m->before.mark_bytes = 0;
	m->held = m->shares = m->seen = m->seen_last = false;
	m->inherited_bytes = 0;
	m->execs++;
	put_image(t, m, false);
	look_at_program(t, m);
}

/* --- ends ---------------------------------------------------------------------------------- */

/* Only SIGKILL is the OOM killer's, and here nobody tells it from another. */
static int8_t oom_killed(int wait_status)
{
	bool may_be = wait_status == UNKNOWN ||
		      (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL);

	return may_be ? UNKNOWN : 0;
}

/* As model/peak has it of a row: what the tree is known to have had. */
static int64_t sure_peak(const struct exit_record *r)
{
	if (r->peak_source == PEAK_LIFETIME)
		return r->peak_since_bytes;
	if (!(r->notes & NOTE_HIWATER))
		return r->peak_rss_bytes;
	return r->peak_error_bytes < 0 ? UNKNOWN : r->peak_rss_bytes - r->peak_error_bytes;
}

static void add_to_totals(struct tracer *t, const struct exit_record *r)
{
	struct totals *sum = &t->sums.totals;

	add(&sum->minor_faults, r->minor_faults);
	add(&sum->major_faults, r->major_faults);
	add(&sum->voluntary_switches, r->voluntary_switches);
	add(&sum->involuntary_switches, r->involuntary_switches);
	add(&sum->io.read_bytes, r->io.read_bytes);
	add(&sum->io.write_bytes, r->io.write_bytes);
	add(&sum->io.cancelled_write_bytes, r->io.cancelled_write_bytes);
	add(&sum->io.rchar, r->io.rchar);
	add(&sum->io.wchar, r->io.wchar);
	add(&sum->io.syscr, r->io.syscr);
	add(&sum->io.syscw, r->io.syscw);
	if (r->running)
		return;
	sum->cpu_ns += larger(r->cpu_ns, 0);
	sum->cpu_user_ns += larger(r->cpu_user_ns, 0);
	sum->cpu_system_ns += larger(r->cpu_system_ns, 0);
	sum->largest_peak_bytes = larger(sum->largest_peak_bytes, sure_peak(r));
	sum->sum_peak_bytes += larger(r->peak_rss_bytes, 0);
}

/* What its address space can have come to at most, as far as it was read. */
static void bound_space(struct tracer *t, struct member *m)
{
	bool mark = m->last.mark_bytes > m->last.rss_bytes;

	if (!m->seen)
		return;
	space_most(m, mark ? m->last.mark_bytes + reading_slack(&t->reader, m) : m->last.rss_bytes);
}

void tracer_ended(struct tracer *t, struct member *m, int wait_status, const struct rusage *ru)
{
	struct totals *sum = &t->sums.totals;
	struct member *creator = member_find(&t->table, m->creator);
	struct exit_record r;
	bool counted;

	bound_space(t, m);
	if (!m->seen && m->space && m->space->users == 1)
		space_most(m, ru->ru_maxrss * 1024 + reading_slack(&t->reader, m));
	space_leave(t, m);
	counted = reading_record(&t->reader, m, ru, &r);
	r.ended_ns = clock_ns(CLOCK_MONOTONIC);
	r.wait_status = wait_status;
	r.oom_killed = oom_killed(wait_status);
	if (!m->seen && !m->shares)
		r.notes |= NOTE_REPAIRED;
	t->sums.unseen += !!(r.notes & NOTE_REPAIRED);
	t->sums.unread += !counted;
	if (creator)
		creator->children_maxrss_bytes =
			larger(creator->children_maxrss_bytes, ru->ru_maxrss * 1024);
	sum->exits++;
	sum->processes--;
	add_to_totals(t, &r);
	if (share_put(t->share, SHARE_EXIT, &r, sizeof(r), NULL, 0))
		sum->records++;
	else
		sum->lost_exits++;
}

/* Of one whose leader has ended only another thread shows the memory. */
pid_t tracer_thread_of(const struct tracer *t, const struct member *m)
{
	const struct tracee *e = tracee_find(&t->table, m->tgid);

	if (e && !e->leaving)
		return m->tgid;
	for (e = t->table.tracees; e; e = e->hh.next)
		if (e->of == m && !e->leaving)
			break;
	return e ? e->tid : m->tgid;
}

void tracer_running(struct tracer *t, struct member *m)
{
	struct exit_record r;

	m->seen = !reading_take(&t->reader, tracer_thread_of(t, m), &m->last);
	bound_space(t, m);
	space_leave(t, m);
	if (!reading_record(&t->reader, m, NULL, &r))
		t->sums.unread++;
	add_to_totals(t, &r);
	/* The session takes them just now; if not, nobody below us may wait for that. */
	for (int i = 0; i < (t->sums.unwritten ? 1 : PUT_TRIES); i++) {
		if (share_put(t->share, SHARE_EXIT, &r, sizeof(r), NULL, 0))
			return;
		usleep(1000);
	}
	t->sums.unwritten++;
}

struct member *tracer_take_in(struct tracer *t, pid_t tgid, pid_t ppid, bool was_there)
{
	struct member *m = member_add(&t->table, tgid);
	struct proc_stat stat;

	if (!m)
		return NULL;
	m->creator = ppid;
	m->taken_in = was_there;
	m->key.tgid = (uint32_t)tgid;
	m->born_ns = clock_ns(CLOCK_MONOTONIC);
	if (!scan_stat(tgid, &stat))
		m->key.start_ns = stat.start_ticks * (uint64_t)t->reader.tick_ns;
	if (was_there && m->key.start_ns)
		m->born_ns -= clock_ns(CLOCK_BOOTTIME) - (int64_t)m->key.start_ns;
	return m;
}

void tracer_remark(struct tracer *t, enum remark_kind kind, const struct member *m)
{
	struct share_remark r = { .kind = kind, .key = m->key, .pid = m->tgid };

	memcpy(r.name, m->comm, sizeof(m->comm));
	t->sums.unwritten += !share_put(t->share, SHARE_REMARK, &r, sizeof(r), NULL, 0);
	share_hurry(t->share); /* it may live for a moment only */
}
