// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_ptrace_tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "units.h"

#define OPTIONS                                                                                \
	(PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
	 PTRACE_O_TRACEEXEC)
#define READ_FROM_LAST 2 /* threads that may still end without a stop of their own */
#define CONT_TRIES     3
#define HELD_MOST_NS   NS_PER_S /* a creator's word comes within microseconds, if it comes */

int tracer_seize(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, (void *)(intptr_t)OPTIONS) ? -errno : 0;
}

/* Its status; 0: there was none. */
static int take_stop(pid_t tid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) || !info.si_pid)
		return 0;
	return info.si_status;
}

static void see_stop(struct tracer *t, pid_t tid, int status);

/*
 * It may have been killed meanwhile: then this stop is none any more, and what is taken instead may
 * be the one on its way out, of which nobody would hear again.
 */
static void go_on(struct tracer *t, pid_t tid, int signo)
{
	int status, tries = 0;

	/* What it stands still for it would stand still for ever. */
	do {
		if (!ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signo))
			return;
	} while (errno != ESRCH && ++tries < CONT_TRIES);
	status = take_stop(tid);
	if (status >> 8 == PTRACE_EVENT_EXIT)
		see_stop(t, tid, status);
}

static pid_t message(pid_t tid)
{
	unsigned long m = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &m) ? 0 : (pid_t)m;
}

/* --- births -------------------------------------------------------------------------------- */

static bool thread_of(pid_t tgid, pid_t tid)
{
	return !syscall(SYS_tgkill, tgid, tid, 0) || errno == EPERM;
}

void tracer_count_thread(struct tracer *t)
{
	if (++t->sums.totals.threads > t->sums.totals.threads_max)
		t->sums.totals.threads_max = t->sums.totals.threads;
}

/* @tid, new, perhaps with its first stop behind it; @creator NULL: not followed. */
static void take_birth(struct tracer *t, pid_t tid, struct member *of, struct member *creator,
		       bool vfork)
{
	struct tracee *e = tracee_find(&t->table, tid);
	bool waiting = e && !e->of;
	struct member *m = of;

	if (e && e->of)
		return;
	if (!m)
		m = tracer_take_in(t, tid, creator ? creator->tgid : UNKNOWN, false);
	if (m && waiting)
		tracee_join(&t->table, e, m);
	else if (m)
		e = tracee_add(&t->table, tid, m);
	if (!m || !e) {
		t->sums.untracked++;
	} else {
		tracer_count_thread(t);
		if (!of && creator)
			creator->has_children = true;
		if (!of)
			tracer_born(t, m, creator, vfork);
	}
	if (waiting)
		go_on(t, tid, 0);
}

/* One without its creator's word, who was killed before it could stop for that. */
static void take_stray(struct tracer *t, pid_t tid)
{
	struct proc_kin kin = { .tgid = tid, .ppid = 0 };

	t->strays++;
	scan_kin(tid, &kin);
	take_birth(t, tid, member_find(&t->table, (pid_t)kin.tgid),
		   member_find(&t->table, (pid_t)kin.ppid), false);
}

/* A process ended: those that are nobody's now; @late: and those that are held for long. */
void tracer_take_strays(struct tracer *t, bool late)
{
	int64_t since_ns = clock_ns(CLOCK_MONOTONIC) - HELD_MOST_NS;
	struct tracee *e, *next;
	struct proc_kin kin;

	if (!t->table.waiting)
		return;
	for (e = t->table.tracees; e; e = next) {
		next = e->hh.next;
		if (e->of)
			continue;
		if ((late && e->held_ns < since_ns) || scan_kin(e->tid, &kin) ||
		    (!member_find(&t->table, (pid_t)kin.ppid) && kin.tgid == e->tid))
			take_stray(t, e->tid);
	}
}

/* A stray was taken in before, and has ended meanwhile. */
static bool is_over(const struct tracer *t, pid_t tid)
{
	struct proc_kin kin;

	return t->strays && !tracee_find(&t->table, tid) &&
	       (scan_kin(tid, &kin) || kin.tracer_pid != getpid());
}

void tracer_take_root(struct tracer *t, pid_t root)
{
	struct member *m;

	take_birth(t, root, NULL, NULL, false);
	m = member_find(&t->table, root);
	if (m)
		m->creator = getppid();
}

static void see_birth(struct tracer *t, struct tracee *e, int event)
{
	pid_t tid = message(e->tid);
	struct member *m = e->of;

	if (is_over(t, tid))
		return;
	if (tid && event == PTRACE_EVENT_CLONE && thread_of(m->tgid, tid))
		take_birth(t, tid, m, m, false);
	else if (tid)
		take_birth(t, tid, NULL, m, event == PTRACE_EVENT_VFORK);
}

/* --- exec and exit ------------------------------------------------------------------------- */

/* Only the thread that execs is left, under the leader's id; whoever had that told of no end. */
static void see_exec(struct tracer *t, struct tracee *e)
{
	struct member *m = e->of;
	struct tracee *other, *next;

	if (m->threads > 1)
		HASH_ITER (hh, t->table.tracees, other, next)
			if (other->of == m && other != e) {
				tracee_remove(&t->table, other);
				t->sums.totals.threads--;
			}
	if (e->leaving) {
		e->leaving = false;
		m->alive++;
	}
	if (m->ending) {
		m->ending = false;
		t->ending--;
	}
	tracer_execed(t, m);
}

static void see_exit(struct tracer *t, struct tracee *e)
{
	struct member *m = e->of;

	if (e->leaving)
		return;
	e->leaving = true;
	m->last_code = (int)message(e->tid);
	m->alive--;
	if (!m->alive && !m->ending) {
		m->ending = true;
		t->ending++;
	}
	reading_io(m, e->tid);
	/* One that only borrows an address space leaves the reading to whoever has it. */
	if (m->alive > READ_FROM_LAST || (m->shares && m->space && m->space->users > 1))
		return;
	if (reading_take(&t->reader, e->tid, &m->last))
		return;
	m->seen = true;
	m->seen_last = !m->alive;
}

/* --- stops --------------------------------------------------------------------------------- */

static bool is_group_stop(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* Its stop is taken, so that waiting does not find it again and again. */
static void hold(struct tracer *t, pid_t tid)
{
	const struct itimerval look = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	struct tracee *e;

	take_stop(tid);
	if (!t->armed)
		setitimer(ITIMER_REAL, &look, NULL);
	t->armed = true;
	e = tracee_add(&t->table, tid, NULL);
	if (e) {
		e->held_ns = clock_ns(CLOCK_MONOTONIC);
	} else {
		t->sums.untracked++;
		go_on(t, tid, 0);
	}
}

/* Stays where the kernel stopped all of its process, and hears of SIGCONT. */
static void stay_stopped(struct tracer *t, pid_t tid)
{
	if (ptrace(PTRACE_LISTEN, tid, NULL, NULL))
		go_on(t, tid, 0);
}

static void see_event(struct tracer *t, struct tracee *e, int event, int signo)
{
	pid_t tid = e->tid;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		see_birth(t, e, event);
		break;
	case PTRACE_EVENT_EXEC:
		see_exec(t, e);
		if (!tracee_find(&t->table, tid))
			return; /* it was let go */
		break;
	case PTRACE_EVENT_EXIT:
		see_exit(t, e);
		break;
	case PTRACE_EVENT_STOP:
		if (is_group_stop(signo)) {
			stay_stopped(t, tid);
			return;
		}
		break;
	default: /* a signal: it is delivered */
		go_on(t, tid, signo);
		return;
	}
	go_on(t, tid, 0);
}

static void see_stop(struct tracer *t, pid_t tid, int status)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	struct tracee *e = tracee_find(&t->table, tid);
	int event = status >> 8, signo = status & 0xff;

	t->sums.stops++;
	if (!e && event == PTRACE_EVENT_STOP) {
		hold(t, tid);
		return;
	}
	if (!e || !e->of) {
		take_stray(t, tid);
		e = tracee_find(&t->table, tid);
	}
	if (e && e->of)
		see_event(t, e, event, signo);
	else
		go_on(t, tid, event ? 0 : signo);
	t->sums.stopped_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

/* --- ends ---------------------------------------------------------------------------------- */

static int wait_status_of(const siginfo_t *si)
{
	switch (si->si_code) {
	case CLD_EXITED:
		return (si->si_status & 0xff) << 8;
	case CLD_DUMPED:
		return si->si_status | 0x80;
	default:
		return si->si_status;
	}
}

/*
 * Up to 6.0 a leader that is only looked at (WNOWAIT) has its own code, and whoever waits for it
 * the group's if it has one: when the last thread's is another, which it is cannot be told.
 */
static int end_status(const struct member *m, const siginfo_t *si)
{
	int status = wait_status_of(si), major = 0, minor = 0;
	struct utsname u;

	if ((m->last_code & 0xffff) == status || uname(&u) ||
	    sscanf(u.release, "%d.%d", &major, &minor) != 2)
		return status;
	return major < 6 || (major == 6 && minor < 1) ? UNKNOWN : status;
}

static void reap(pid_t tid)
{
	siginfo_t info;

	waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

static void end_process(struct tracer *t, struct member *m, const siginfo_t *si)
{
	struct rusage ru = { .ru_maxrss = 0 };
	siginfo_t again;

	if (!m->ending)
		t->ending++;
	syscall(SYS_waitid, P_PID, si->si_pid, &again, WEXITED | WNOWAIT | WNOHANG | __WALL, &ru);
	tracer_ended(t, m, end_status(m, si), &ru);
	t->ending--;
	member_remove(&t->table, m);
	tracer_take_strays(t, false);
	share_tell(t->share, &t->sums);
}

static void see_end(struct tracer *t, const siginfo_t *si)
{
	pid_t tid = si->si_pid;
	struct tracee *e;
	struct member *m;

	e = tracee_find(&t->table, tid);
	m = e ? e->of : NULL;
	if (!m) {
		reap(tid);
		return;
	}
	if (!e->leaving)
		see_exit(t, e); /* it was killed on its way: there is nothing to read any more */
	t->sums.totals.threads--;
	if (tid != m->tgid)
		reading_of_thread(m, tid);
	tracee_remove(&t->table, e);
	/* A leader that had ended before it was attached to tells of no end. */
	if (tid == m->tgid || !m->threads)
		end_process(t, m, si);
	/* Only now its parent hears of it, and the record is there before. */
	reap(tid);
}

void tracer_let_go(struct tracer *t, struct member *m)
{
	struct tracee *e = tracee_find(&t->table, m->tgid);

	tracer_remark(t, REMARK_LET_GO, m);
	t->sums.unbounded++; /* in the totals it stays: the session, which looks at it now, takes it
				out */
	if (e)
		tracee_remove(&t->table, e);
	ptrace(PTRACE_DETACH, m->tgid, NULL, NULL);
	member_remove(&t->table, m);
}

bool tracer_see_next(struct tracer *t, bool wait)
{
	const int options = WEXITED | WSTOPPED | WNOWAIT | __WALL | (wait ? 0 : WNOHANG);
	siginfo_t si = { .si_pid = 0 };

	/* Not taken by waiting: whatever happens to us it stays as it is. */
	if (waitid(P_ALL, 0, &si, options) || !si.si_pid)
		return false;
	if (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED)
		see_stop(t, si.si_pid, si.si_status);
	else
		see_end(t, &si);
	share_tell(t->share, &t->sums);
	return true;
}
