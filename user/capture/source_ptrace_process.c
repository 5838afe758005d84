// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_ptrace_process - the tracer as a process: its surroundings, its loop and its end
 */
#include "capture/source_ptrace_tracer.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cap-ng.h>

#include "capture/refusal.h"
#include "units.h"

#define SETTLE_NS NS_PER_S

static void on_request(int signo)
{
	(void)signo; /* it ends the waiting */
}

/* Of the terminal's and the group's signals none is ours; SIGUSR1 is exitmeter's word, SIGALRM our
 * own. */
static void prepare_signals(void)
{
	struct sigaction request = { .sa_handler = on_request };
	struct sigaction child = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	sigset_t all;

	sigaction(SIGUSR1, &request, NULL);
	sigaction(SIGALRM, &request, NULL);
	sigaction(SIGCHLD, &child, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	sigdelset(&all, SIGALRM);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* What reading others takes, and what keeps the privilege of set-user-ID programs below us. */
static bool keep_capabilities(void)
{
	static const unsigned int wanted[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL };
	const capng_type_t both = (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED);
	unsigned int had = 0;

	if (capng_get_caps_process())
		return false;
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (capng_have_capability(CAPNG_PERMITTED, wanted[i]))
			had |= 1u << i;
	/* Without that one a process is only ours to trace while it has none that we lack. */
	if (!(had & 1u))
		return false;
	capng_clear(CAPNG_SELECT_CAPS);
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (had & 1u << i)
			capng_update(CAPNG_ADD, both, wanted[i]);
	capng_apply(CAPNG_SELECT_CAPS);
	return true;
}

static void close_others(int keep)
{
	if (keep > 0)
		syscall(SYS_close_range, 0, keep - 1, 0);
	if (syscall(SYS_close_range, keep + 1, ~0u, 0) && errno == ENOSYS)
		for (int fd = 0; fd < sysconf(_SC_OPEN_MAX); fd++)
			if (fd != keep)
				close(fd);
}

static int seize_root(struct tracer *t)
{
	const struct timespec moment = { .tv_nsec = NS_PER_MS };
	pid_t root = t->options->root;
	int err = tracer_seize(root);

	/* With yama's scope 1 the child has yet to allow it, as its first act. */
	for (int i = 0; err == -EPERM && yama_scope() == 1 && i < 100; i++) {
		nanosleep(&moment, NULL);
		err = tracer_seize(root);
	}

	if (!err)
		tracer_take_root(t, root);
	return err;
}

/* Exits that have begun send their record, at most a second long. */
static void settle(struct tracer *t)
{
	const struct timespec moment = { .tv_nsec = NS_PER_MS / 2 };
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;

	while (t->ending && clock_ns(CLOCK_MONOTONIC) < deadline)
		if (!tracer_see_next(t, false))
			nanosleep(&moment, NULL);
}

static _Noreturn void finish(struct tracer *t)
{
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SETTLE_NS / 10;
	struct member *m, *next;

	while (clock_ns(CLOCK_MONOTONIC) < deadline && tracer_see_next(t, false))
		;
	settle(t);
	for (m = t->table.members; m; m = next) {
		next = m->hh.next;
		tracer_running(t, m);
	}
	share_tell(t->share, &t->sums);
	_exit(t->ending ? TRACER_UNSETTLED : 0);
}

static void take_late(struct tracer *t)
{
	const struct itimerval none = { 0 };

	tracer_take_strays(t, true);
	if (!t->table.waiting)
		t->armed = setitimer(ITIMER_REAL, &none, NULL);
	share_tell(t->share, &t->sums);
}

_Noreturn void tracer_main(struct share *share, const struct source_options *o, pid_t parent)
{
	struct tracer t = { .share = share, .options = o, .reader = reader_open() };
	int err;

	setsid();
	prctl(PR_SET_NAME, "exitmeter-trace");
	close_others(share->wake_fd);
	prepare_signals();
	t.privileged = keep_capabilities();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	t.programs = program_cache_new();
	t.sums.totals.largest_peak_bytes = UNKNOWN;
	err = o->n_roots ? tracer_seed(&t) : seize_root(&t);
	share_tell(share, &t.sums);
	atomic_store(&share->opened, err ? err : 1);
	if (err)
		_exit(1);
	for (;;) {
		if (atomic_load(&share->finish))
			finish(&t);
		if (tracer_see_next(&t, true))
			continue;
		if (errno == EINTR)
			take_late(&t);
		else
			pause();
	}
}
