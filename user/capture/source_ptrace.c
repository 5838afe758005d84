// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_ptrace - the session's side: starts the tracer, takes its records, asks it to end
 */
#include "capture/source_ptrace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/refusal.h"
#include "capture/source_ptrace_tracer.h"
#include "procfs/scan.h"
#include "units.h"

#define RING_BYTES (512u << 10)
#define RING_BYTES_ATTACH \
	(16u << 20) /* all of a tree comes before anyone reads; untouched it costs nothing */
#define POLL_MS     40
#define QUIET_POLLS 3 /* then the tree is idle */
#define ANSWER_NS   (5 * NS_PER_S)
#define STEP_NS     (NS_PER_MS / 2)

static struct source_ptrace *self(struct source *base)
{
	return (struct source_ptrace *)base;
}

static int64_t rusage_cpu_ns(const struct rusage *ru)
{
	return (int64_t)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * NS_PER_S +
	       (int64_t)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) * NS_PER_US;
}

static void nap(void)
{
	const struct timespec moment = { .tv_nsec = STEP_NS };

	nanosleep(&moment, NULL);
}

/* --- records ------------------------------------------------------------------------------- */

struct living *ptrace_living_find(const struct source_ptrace *s, int32_t pid)
{
	struct living *l;

	HASH_FIND_INT(s->living, &pid, l);
	return l;
}

void ptrace_living_forget(struct source_ptrace *s, struct living *l)
{
	HASH_DEL(s->living, l); // NOLINT(clang-analyzer-core.NullDereference): it is in the table
	free(l);
}

static int take_fork(struct source_ptrace *s, const struct share_fork *f)
{
	struct living *l = ptrace_living_find(s, f->r.pid);

	if (l) /* the record of its end found no room */
		ptrace_living_forget(s, l);
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->pid = f->r.pid;
	l->ppid = f->r.ppid;
	l->born_ns = f->r.at_ns;
	l->key = f->r.key;
	l->shared = f->r.shared_mm;
	HASH_ADD_INT(s->living, pid, l);
	if (!hash_is_in(l)) {
		free(l);
		return -ENOMEM;
	}
	if (f->r.taken_in && f->cpu_before_ns > 0) {
		l->cpu_before_ns = f->cpu_before_ns;
		s->baseline_ns += f->cpu_before_ns;
	}
	return s->base.sink.on_fork(s->base.sink.ctx, &f->r);
}

static int take_exec(struct source_ptrace *s, const struct exec_record *at, size_t len)
{
	struct exec_record r = *at;
	struct living *l = ptrace_living_find(s, (int32_t)r.key.tgid);

	if (r.argv_len > len - sizeof(r))
		return -EBADMSG;
	if (l && !r.no_exec) {
		l->shared = false;
		l->seen_bytes = 0; /* that was another image */
	}
	if (l)
		memcpy(l->comm, r.comm, sizeof(l->comm));
	r.argv = (const char *)(at + 1);
	return s->base.sink.on_exec(s->base.sink.ctx, &r);
}

/* A sample saw more than its mark came to: somebody has written to its clear_refs. */
static void see_reset(const struct source_ptrace *s, const struct living *l, struct exit_record *r)
{
	if (l->seen_bytes <= r->peak_rss_bytes + s->reader.slack_bytes ||
	    r->peak_source == PEAK_LIFETIME)
		return;
	r->peak_rss_bytes = l->seen_bytes;
	r->peak_source = PEAK_SCAN;
	r->peak_rss_exact = 0;
	r->peak_error_bytes = UNKNOWN;
	r->notes = (r->notes & ~(uint32_t)NOTE_HIWATER) | NOTE_MARK_RESET;
}

static int take_exit(struct source_ptrace *s, const struct exit_record *at)
{
	struct exit_record r = *at;
	struct living *l = ptrace_living_find(s, r.pid);

	if (l && !l->shared && r.peak_rss_bytes >= 0)
		see_reset(s, l, &r);
	if (r.cpu_ns > 0)
		s->ended_cpu_ns += r.cpu_ns;
	if (l)
		ptrace_living_forget(s, l);
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

static int take_remark(struct source_ptrace *s, const struct share_remark *r)
{
	static const char *const texts[] = {
		[REMARK_LET_GO] = "its leak check needs ptrace itself: not traced, only sampled",
		[REMARK_TRACER] = "its ptrace() would be refused here",
		[REMARK_UNREADABLE] =
			"its file may not be read: if it gives a privilege, it ran without it",
		[REMARK_SETUID] = "it ran without the privilege that its file gives",
	};

	source_disturbs(&s->base, r->name, texts[r->kind]);
	return r->kind == REMARK_LET_GO ? ptrace_follow_beside(s, r->pid) : 0;
}

static int take(struct source_ptrace *s, enum share_kind kind, const void *at, size_t len)
{
	switch (kind) {
	case SHARE_FORK:
		return take_fork(s, at);
	case SHARE_EXEC:
		return take_exec(s, at, len);
	case SHARE_EXIT:
		return take_exit(s, at);
	case SHARE_REMARK:
		return take_remark(s, at);
	default:
		return -EBADMSG;
	}
}

static int ptrace_drain(struct source *base)
{
	struct source_ptrace *s = self(base);
	enum share_kind kind;
	const void *at;
	size_t len, n = 0;
	int err = 0;

	share_woken(s->share);
	while (!err && (at = share_look(s->share, &kind, &len))) {
		err = take(s, kind, at, len);
		share_drop(s->share);
		n++;
	}
	s->quiet = n ? 0 : s->quiet + 1;
	if (!err && s->beside)
		ptrace_look_beside(s);
	return err;
}

/* --- totals -------------------------------------------------------------------------------- */

/* One reading of each living process: what it has used, and that no mark tells of later. */
static int64_t living_cpu_ns(struct source_ptrace *s)
{
	struct proc_statm statm;
	struct living *l, *next;
	int64_t sum = 0, cpu;

	for (l = s->living; l; l = next) {
		next = l->hh.next;
		cpu = scan_cpu_ns(l->pid);
		if (cpu - l->cpu_before_ns > l->cpu_ns)
			l->cpu_ns = cpu - l->cpu_before_ns;
		sum += l->cpu_ns;
		if (!l->shared && !scan_statm(l->pid, &statm) &&
		    (int64_t)statm.resident_pages * s->reader.page_bytes > l->seen_bytes)
			l->seen_bytes = (int64_t)statm.resident_pages * s->reader.page_bytes;
	}
	return sum;
}

static void read_totals(struct source_ptrace *s, struct totals *ret)
{
	struct share_totals told;
	int64_t cpu;

	share_totals_read(s->share, &told);
	*ret = told.totals;
	cpu = s->ended_cpu_ns + living_cpu_ns(s);
	if (ret->cpu_ns > cpu) /* ended, and not yet taken or lost */
		cpu = ret->cpu_ns;
	if (cpu < s->waited_cpu_ns && (s->let_go || s->tracer_lost))
		cpu = s->waited_cpu_ns; /* SPEC U-30 */
	if (cpu > s->cpu_ns)
		s->cpu_ns = cpu;
	ret->cpu_ns = s->cpu_ns;
	ret->baseline_cpu_ns = s->attached ? s->baseline_ns : UNKNOWN;
	/* Who was let go had one thread then, and stays in the tracer's count. */
	ret->processes += s->beside_processes - s->let_go;
	ret->threads += s->beside_threads - s->let_go;
	ret->forks += s->beside_born;
	ret->exits += s->beside_ended;
	ret->repaired = 0;
	ret->lower_bytes = ret->upper_bytes = UNKNOWN;
	ret->lower_max_bytes = ret->lower_max_at_ns = UNKNOWN;
	ret->interval_max_bytes = UNKNOWN;
	if (told.unbounded || !ret->upper_max_bytes)
		ret->upper_max_bytes = UNKNOWN;
	if (s->tracer_lost || s->let_go)
		ret->voluntary_switches = ret->involuntary_switches = UNKNOWN;
	if (s->tracer_lost) {
		ptrace_count_living(s, &ret->processes, &ret->threads);
		ret->minor_faults = ret->major_faults = UNKNOWN;
		ret->io = io_unknown;
	}
}

static int ptrace_sample(struct source *base, struct tree_sample *ret)
{
	struct source_ptrace *s = self(base);
	int err = ptrace_drain(base);

	read_totals(s, &ret->totals);
	ret->totals.upper_max_bytes = UNKNOWN; /* known at the end only */
	ret->whole = true; /* then each one's mark has in it what came from outside too */
	return err;
}

/* --- the end ------------------------------------------------------------------------------- */

/* What the tracer used is ours. */
static void tracer_waited(struct source_ptrace *s, const struct rusage *ru, int status)
{
	s->tracer = s->base.helper = 0;
	s->tracer_lost |= !s->finished || !WIFEXITED(status);
	s->unsettled = WIFEXITED(status) && WEXITSTATUS(status) == TRACER_UNSETTLED;
	s->base.helper_cpu_ns = rusage_cpu_ns(ru);
	s->base.helper_rss_bytes = ru->ru_maxrss * 1024;
}

static void wait_for_tracer(struct source_ptrace *s, int options)
{
	struct rusage ru;
	int status;

	if (s->tracer && wait4(s->tracer, &status, options, &ru) == s->tracer)
		tracer_waited(s, &ru, status);
}

static int ptrace_finish(struct source *base, bool root_ended, struct totals *ret)
{
	struct source_ptrace *s = self(base);
	struct share_totals told;
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
	int err = 0, drained;

	s->finished = true;
	atomic_store(&s->share->finish, root_ended ? 2 : 1);
	while (s->tracer && clock_ns(CLOCK_MONOTONIC) < deadline) {
		kill(s->tracer, SIGUSR1); /* again, since it may have come before the waiting */
		drained = ptrace_drain(base);
		err = err ? err : drained;
		wait_for_tracer(s, WNOHANG);
		if (s->tracer)
			nap();
	}
	if (s->tracer) {
		kill(s->tracer, SIGKILL);
		s->tracer_lost = true;
		wait_for_tracer(s, 0);
	}
	drained = ptrace_drain(base);
	if (s->beside && !drained)
		drained = source_finish(s->beside, root_ended, ret);
	if (s->tracer_lost && !drained)
		drained = ptrace_put_rest(s);
	err = err ? err : drained;
	read_totals(s, ret);
	share_totals_read(s->share, &told);
	s->base.info.stops = (int64_t)told.stops;
	s->base.info.stopped_ns = told.stopped_ns;
	return !err && s->unsettled ? -ETIME : err;
}

static int ptrace_poll_fd(struct source *base)
{
	return self(base)->share->wake_fd;
}

static int ptrace_poll_ms(struct source *base)
{
	struct source_ptrace *s = self(base);

	if (s->quiet < QUIET_POLLS || s->beside_processes)
		return POLL_MS;
	return share_sleep(s->share) ? -1 : 0;
}

static size_t ptrace_losses(struct source *base, struct loss *out, size_t cap)
{
	struct source_ptrace *s = self(base);
	struct share_totals told;
	size_t n = 0;

	share_totals_read(s->share, &told);
	const struct loss all[] = {
		{ "tracer-ended-early", s->tracer_lost, true },
		{ "programs-only-sampled", (uint64_t)s->let_go, true },
		{ "processes-missed-at-attach", told.missed, UPPER_NONE },
		{ "ends-without-memory", told.unseen, false },
		{ "ends-without-counters", told.unread, false },
		{ "records-without-room", told.unwritten, false },
		{ "address-spaces-without-bound", told.unbounded, true },
		{ "processes-unfollowed", told.untracked, UPPER_NONE },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && n < cap; i++)
		if (all[i].count)
			out[n++] = all[i];
	return n;
}

static void ptrace_reaped(struct source *base, pid_t pid, int status, const struct rusage *ru)
{
	struct source_ptrace *s = self(base);

	if (pid == s->tracer)
		tracer_waited(s, ru, status);
	else if (s->beside)
		source_reaped(s->beside, pid, status, ru);
	if (pid != s->tracer && rusage_cpu_ns(ru) > s->waited_cpu_ns)
		s->waited_cpu_ns = rusage_cpu_ns(ru);
}

static void ptrace_close(struct source *base)
{
	struct source_ptrace *s = self(base);
	struct living *l, *next;

	if (s->tracer) {
		kill(s->tracer, SIGKILL);
		wait_for_tracer(s, 0);
	}
	for (l = s->living; l; l = next) {
		next = l->hh.next;
		ptrace_living_forget(s, l);
	}
	source_close(s->beside);
	share_close(s->share);
	free(s);
}

static const struct source_ops ptrace_ops = {
	.drain = ptrace_drain,
	.sample = ptrace_sample,
	.finish = ptrace_finish,
	.poll_fd = ptrace_poll_fd,
	.poll_ms = ptrace_poll_ms,
	.losses = ptrace_losses,
	.reaped = ptrace_reaped,
	.close = ptrace_close,
};

/* --- beginning ----------------------------------------------------------------------------- */

static size_t ring_bytes(bool attached)
{
	const char *test = getenv("EXITMETER_TEST_RING_BYTES");

	if (test)
		return strtoul(test, NULL, 0);
	return attached ? RING_BYTES_ATTACH : RING_BYTES;
}

static void explain(const struct source_options *o, int err, char *why, size_t cap)
{
	const char *remedy = NULL, *cause = NULL;
	struct proc_kin kin;

	for (size_t i = 0; i < o->n_roots; i++)
		if (!scan_kin(o->roots[i], &kin) && kin.tracer_pid > 0) {
			snprintf(why, cap, "process %d is traced by process %d already",
				 (int)o->roots[i], (int)kin.tracer_pid);
			return;
		}
	if (err == -ENOTSUP)
		cause = "a program of the tree has LeakSanitizer, whose check needs ptrace itself";
	if (err == -EPERM || err == -EACCES)
		cause = refusal_of_ptrace(&remedy);
	if (err == -EPERM && !cause && o->n_roots) {
		cause = yama_scope() == 1 ? "yama allows it to a process's ancestors only"
					  : "a process of the tree is another user's, privileged "
					    "or traced";
		remedy = "run it with CAP_SYS_PTRACE";
	}
	snprintf(why, cap, "ptrace() refused: %s%s%s", cause ? cause : strerror(-err),
		 remedy ? "; would allow it: " : "", remedy ? remedy : "");
}

static int start_tracer(struct source_ptrace *s, const struct source_options *o)
{
	pid_t parent = getpid();
	int opened;

	s->tracer = fork();
	if (s->tracer < 0) {
		s->tracer = 0;
		return -errno;
	}
	s->base.helper = s->tracer;
	if (!s->tracer)
		tracer_main(s->share, o, parent);
	while (!(opened = atomic_load(&s->share->opened)) && s->tracer) {
		nap();
		wait_for_tracer(s, WNOHANG);
	}
	if (opened != 1 && s->tracer) /* it goes, and lets go whom it had */
		wait_for_tracer(s, 0);
	return opened == 1 ? 0 : opened ? opened : -EIO;
}

int source_ptrace_open(const struct source_options *o, const struct source_sink *sink,
		       struct source **ret_source, char *why, size_t cap)
{
	struct source_ptrace *s;
	int err = scan_available();

	if (err) {
		snprintf(why, cap, "/proc is not mounted, or is another pid namespace's");
		return err;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		snprintf(why, cap, "out of memory");
		return -ENOMEM;
	}
	s->base = (struct source){ .ops = &ptrace_ops,
				   .sink = *sink,
				   .info = { .exits = "ptrace",
					     .hook = "PTRACE_EVENT_EXIT",
					     .tree = "fork-events",
					     .samples = "proc",
					     .exact = true } };
	s->attached = o->n_roots > 0;
	s->reader = reader_open();
	s->share = share_open(ring_bytes(s->attached));
	err = s->share ? start_tracer(s, o) : -errno;
	if (!err) {
		*ret_source = &s->base;
		return 0;
	}
	explain(o, err, why, cap);
	if (s->share)
		ptrace_close(&s->base);
	else
		free(s);
	return err;
}
