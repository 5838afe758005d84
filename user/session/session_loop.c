// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * session_loop - from the start of the run to its end: signals, records, samples, requests
 */
#include "session/state.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_SHARE  20
#define TERM_GRACE_NS (5 * NS_PER_S)
#define TERM_SAME_NS  (50 * NS_PER_MS) /* timeout(1) sends one to us and one to our group */

/* --- samples ------------------------------------------------------------------------------- */

/* Where every sample reads all of the tree it may take a twentieth of a processor at most. */
static int64_t next_after(struct session *s, int64_t used_ns)
{
	int64_t interval = (int64_t)(s->config->interval_s * (double)NS_PER_S);

	if (s->source->info.sums || used_ns * SAMPLE_SHARE <= interval)
		return interval;
	texts_add(&s->run.notes, "interval-stretched");
	return used_ns * SAMPLE_SHARE;
}

static void sample(struct session *s)
{
	struct tree_sample t = { .at_ns = clock_ns(CLOCK_MONOTONIC) };
	int64_t used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	double cpus = -1;

	sampler_sample(&s->sampler, &t);
	if (run_on_sample(&s->run, &t))
		cpus = s->run.meter.last_cpus;
	journal_sample(&s->journal, &t, &s->run.load, cpus, false);
	progress_on_sample(&s->progress, &t);
	split_sample(&s->split, t.at_ns);
	session_flush_journal(s);
	used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used_ns;
	s->next_sample_ns = t.at_ns + next_after(s, used_ns);
}

static void tell_progress(struct session *s, int64_t now)
{
	bool sampled = s->run.has_totals;
	const struct progress_facts f = {
		.elapsed_ns = now - s->start_ns,
		.rss_bytes = s->progress.rss_bytes,
		.peak_bytes = sampled ? run_usage_so_far(&s->run).peak_rss_bytes : UNKNOWN,
		.cpus = sampled ? s->run.meter.last_cpus : -1,
		.processes = sampled ? s->run.totals.processes : UNKNOWN,
	};

	progress_tell(&s->progress, &f);
}

/* --- waiting ------------------------------------------------------------------------------- */

/* A child that waits to be waited for; 0: none.  No second signal tells of it. */
static pid_t next_ended(void)
{
	siginfo_t of;
	int err;

	do {
		of = (siginfo_t){ .si_pid = 0 };
		err = waitid(P_ALL, 0, &of, WEXITED | WNOHANG | WNOWAIT);
	} while (err && errno == EINTR);
	return err ? 0 : of.si_pid;
}

static pid_t wait_ended(pid_t pid, int *ret_status, struct rusage *ret)
{
	pid_t got;

	do
		got = wait4(pid, ret_status, WNOHANG, ret);
	while (got < 0 && errno == EINTR);
	return got;
}

static void reap(struct session *s)
{
	struct rusage ru;
	int status;
	pid_t pid;

	if (!s->root_ended && !attached(s) && launch_stopped(&s->launch)) {
		progress_hide(&s->progress);
		if (signals_stop())
			launch_continue(&s->launch);
	}
	while ((pid = next_ended()) > 0) {
		source_ending(s->source, pid);
		if (wait_ended(pid, &status, &ru) != pid)
			break;
		source_reaped(s->source, pid, status, &ru);
		if (pid != s->launch.pid)
			continue;
		s->root_ended = true;
		s->root_status = status;
		s->has_status = true;
		s->root_usage = ru;
		s->ended_ns = clock_ns(CLOCK_MONOTONIC);
		if (s->config->wait_tree)
			signals_take_interrupt(s->signals);
		else
			s->stop = true;
	}
}

/* The last of the targets ended. */
static void see_target(struct session *s, int fd)
{
	if (!targets_see(&s->targets, fd) || s->targets.ended < s->targets.n)
		return;
	s->root_ended = true;
	s->ended_ns = clock_ns(CLOCK_MONOTONIC);
	s->stop = !s->config->wait_tree;
}

static void forward(struct session *s, int signo)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	s->ends_series |= signals_is_end(s->signals, signo);
	if (s->root_ended || attached(s)) {
		/* Only the tree is waited for, or looked at: the signal ends that. */
		if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP)
			s->stop = true;
		return;
	}
	/* From the keyboard it comes to the command as well. */
	if (signo == SIGINT || signo == SIGQUIT)
		return;
	kill(s->launch.pid, signo);
	if (signo != SIGTERM || s->signals->term_ignored)
		return;
	if (!s->term_deadline_ns)
		s->term_deadline_ns = now + TERM_GRACE_NS;
	else if (now > s->term_deadline_ns - TERM_GRACE_NS + TERM_SAME_NS)
		s->terminated = s->stop = true;
}

/* The terminal's TSTP goes to the command as well: we stop when it did (reap), if it does. */
static void told_to_stop(struct session *s, bool by_terminal)
{
	/* Nothing is left to wait for: the report is next, not a stop. */
	if (s->stop || (by_terminal && !s->root_ended && !attached(s)))
		return;
	if (!s->root_ended && !attached(s))
		launch_await_stop(&s->launch);
	progress_hide(&s->progress);
	signals_stop();
}

static void take_signals(struct session *s)
{
	bool kernel;
	int signo;

	while ((signo = signals_next(s->signals, &kernel))) {
		if (signo == SIGCHLD)
			reap(s);
		else if (signo == SIGTSTP)
			told_to_stop(s, kernel);
		else
			forward(s, signo);
	}
}

/*
 * A look at /proc is not one moment: one may be born behind it while its parent ends before it.  So
 * nobody is there when two in a row find nobody.
 */
static bool tree_lives(struct session *s)
{
	bool lives = false;

	for (int i = 0; !lives && i < 2; i++) {
		struct tree_sample t = { .at_ns = clock_ns(CLOCK_MONOTONIC) };

		sampler_totals(&s->sampler, &t);
		lives = t.totals.processes > 0;
	}
	return lives;
}

static int sooner(int a, int64_t b_ns)
{
	int64_t ms = b_ns <= 0 ? 0 : (b_ns + NS_PER_MS - 1) / NS_PER_MS;

	return a < 0 || ms < a ? (int)(ms > 60000 ? 60000 : ms) : a;
}

static int wait_ms(struct session *s, int64_t now)
{
	int ms = source_poll_ms(s->source);

	if (s->config->interval_s > 0)
		ms = sooner(ms, s->next_sample_ns - now);
	if (s->sampler.doubt_at_ns)
		ms = sooner(ms, s->sampler.doubt_at_ns - now);
	if (planned_next_ns(&s->planned) != TIME_NONE)
		ms = sooner(ms, s->start_ns + planned_next_ns(&s->planned) - now);
	if (s->term_deadline_ns)
		ms = sooner(ms, s->term_deadline_ns - now);
	if (s->detach_at_ns)
		ms = sooner(ms, s->detach_at_ns - now);
	if (progress_next_ns(&s->progress) != INT64_MAX)
		ms = sooner(ms, s->start_ns + progress_next_ns(&s->progress) - now);
	if (s->asked.energy.on && s->config->interval_s > 0)
		ms = sooner(ms, s->asked.energy.next_ns - now);
	if (s->root_ended) /* --wait-tree: its end is seen by looking */
		ms = sooner(ms, 40 * NS_PER_MS);
	return ms;
}

int session_watch(struct session *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || !epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? 0 : -errno;
}

void session_loop(struct session *s)
{
	struct epoll_event ev[4];

	while (!s->stop) {
		int64_t now = clock_ns(CLOCK_MONOTONIC);
		int n = epoll_wait(s->epoll_fd, ev, 4, wait_ms(s, now));

		for (int i = 0; i < n; i++)
			if (ev[i].data.fd == s->signals->fd)
				take_signals(s);
			else if (ev[i].data.fd == s->channel.epoll_fd)
				control_serve(&s->control);
			else
				see_target(s, ev[i].data.fd);
		session_drain(s);
		now = clock_ns(CLOCK_MONOTONIC);
		if (s->config->interval_s > 0)
			energy_run_update(&s->asked.energy, now);
		planned_serve(&s->planned, &s->control, now - s->start_ns);
		if (s->term_deadline_ns && now >= s->term_deadline_ns && !s->root_ended)
			s->terminated = s->stop = true;
		if (s->detach_at_ns && now >= s->detach_at_ns)
			s->stop = true;
		if (s->root_ended && !s->stop && !tree_lives(s))
			s->stop = true;
		if (!s->stop && s->sampler.doubt_at_ns && now >= s->sampler.doubt_at_ns)
			sampler_look_again(&s->sampler, &s->run);
		if (!s->stop && now - s->start_ns >= progress_next_ns(&s->progress))
			tell_progress(s, now);
		if (!s->stop && s->config->interval_s > 0 && now >= s->next_sample_ns)
			sample(s);
		else if (!s->stop && s->config->interval_s > 0)
			sampler_look_between(&s->sampler);
	}
	progress_close(&s->progress);
	asked_stop(&s->asked, clock_ns(CLOCK_MONOTONIC));
	control_finish(&s->control);
}
