// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/launch.h"
#include "capture/source.h"
#include "descriptors.h"
#include "host/disk.h"
#include "host/env.h"
#include "journal/spans.h"
#include "journal/write.h"
#include "log.h"
#include "output.h"
#include "procfs/scan.h"
#include "session/choice.h"
#include "session/control.h"
#include "session/facts.h"
#include "session/privileges.h"
#include "session/reports.h"
#include "session/sampler.h"
#include "session/planned.h"
#include "session/signals.h"
#include "session/split.h"
#include "session/spool.h"
#include "session/targets.h"
#include "units.h"

#define SAMPLE_SHARE      20
#define TERM_GRACE_NS     (5 * NS_PER_S)
#define TERM_SAME_NS      (50 * NS_PER_MS) /* timeout(1) sends one to us and one to our group */
#define STATUS_TERMINATED (128 + SIGTERM)

struct session {
	const struct config *config;
	struct signals signals;
	struct launch launch;   /* of the command, */
	struct targets targets; /* or what is attached to */
	struct source *source;
	bool source_closed;
	struct sampler sampler;
	struct channel channel; /* of the run's phases and attempts */
	struct control control;
	struct planned planned;
	struct split split;
	struct run run;
	struct run_facts facts;
	struct env env;
	struct env_reading env_reading;
	struct journal journal;
	struct output report_out, json_out, journal_out;
	struct spool spool;
	char fallback_reason[768];
	int epoll_fd;
	int64_t start_ns, started_at_ns, next_sample_ns;
	bool root_ended, stop;
	int root_status;
	bool has_status;
	struct rusage root_usage;
	int64_t ended_ns, term_deadline_ns, detach_at_ns; /* 0: none */
	bool no_private_socket;
	bool terminated; /* TERM came and the command did not end */
	int sink_err;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static bool attached(const struct session *s)
{
	return !s->config->command;
}

/* --- records into model, scan and journal -------------------------------------------------- */

static int on_fork(void *ctx, const struct fork_record *r)
{
	struct session *s = ctx;
	int err = run_on_fork(&s->run, r);

	if (!err && s->sampler.scanning)
		err = scan_add(s->sampler.scan, r->key, r->pid, r->inherited_rss_bytes,
			       r->shared_mm);
	if (!err && s->sampler.scanning && r->taken_in)
		scan_count_from_now(s->sampler.scan, r->key);
	if (!err && r->run)
		scan_set_run(s->sampler.scan, r->key, r->run);
	if (!err)
		err = split_on_fork(&s->split, r);
	return err == -EEXIST ? 0 : err;
}

static int on_exec(void *ctx, const struct exec_record *r)
{
	struct session *s = ctx;
	struct exec_record bare = *r;
	int err;

	if (s->sampler.scanning && !r->no_exec)
		scan_exec(s->sampler.scan, r->key);
	if (!s->config->argv)
		bare.argv_known = false;
	err = run_on_exec(&s->run, &bare);
	return err ? err : split_on_exec(&s->split, &bare);
}

static int on_exit_record(void *ctx, const struct exit_record *r)
{
	struct session *s = ctx;
	struct exit_record own = *r;
	struct process *row;
	uint64_t run;
	int err;

	/* Held before the start: its life begins when it was let go (INTERFACE 3). */
	if (!attached(s) && own.born_ns >= 0 && own.born_ns < s->start_ns)
		own.born_ns = s->start_ns;
	if (attached(s) && s->targets.n == 1 && r->pid == s->targets.at[0].pid && !r->running &&
	    r->wait_status >= 0) {
		s->root_status = r->wait_status;
		s->has_status = true;
	}
	err = run_on_exit(&s->run, &own, &row);
	if (err)
		return err;
	err = split_on_exit(&s->split, &own, &run);
	if (s->sampler.scanning && !r->running)
		scan_remove(s->sampler.scan, r->key);
	journal_process(&s->journal, now_ns(CLOCK_MONOTONIC), row, run);
	spool_add(&s->spool, row);
	process_unref(row);
	return err;
}

static int on_oom(void *ctx, const struct oom_record *r)
{
	struct session *s = ctx;

	journal_oom(&s->journal, r);
	return 0;
}

static int on_env(void *ctx, uint32_t run, const char *value, size_t len)
{
	struct session *s = ctx;

	return split_on_env(&s->split, run, value, len);
}

static void flush_journal(struct session *s)
{
	int err = journal_flush(&s->journal);

	if (err && s->journal.fd >= 0) {
		log_line("cannot write '%s': %s", s->config->journal, strerror(-err));
		s->journal.fd = -1;
	}
}

/* A record that cannot be taken is a gap in the figures, never the command's end. */
static void drain(struct session *s)
{
	int err = source_drain(s->source);

	if (err && !s->sink_err) {
		s->sink_err = err;
		texts_add(&s->run.reasons, "a record was not taken: %s", strerror(-err));
	}
	split_on_drained(&s->split);
	flush_journal(s);
}

static void drain_for_control(void *ctx)
{
	drain(ctx);
}

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
	struct tree_sample t = { .at_ns = now_ns(CLOCK_MONOTONIC) };
	int64_t used_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	double cpus = -1;

	sampler_sample(&s->sampler, &t);
	if (run_on_sample(&s->run, &t))
		cpus = s->run.meter.last_cpus;
	journal_sample(&s->journal, &t, cpus, false);
	split_sample(&s->split, t.at_ns);
	flush_journal(s);
	used_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - used_ns;
	s->next_sample_ns = t.at_ns + next_after(s, used_ns);
}

/* --- waiting ------------------------------------------------------------------------------- */

/* A child that waits to be waited for; 0: none. */
static pid_t next_ended(siginfo_t *of)
{
	of->si_pid = 0;
	return waitid(P_ALL, 0, of, WEXITED | WNOHANG | WNOWAIT) ? 0 : of->si_pid;
}

static void reap(struct session *s)
{
	struct rusage ru;
	siginfo_t of;
	int status;
	pid_t pid;

	if (!s->root_ended && !attached(s) && launch_stopped(&s->launch) && signals_stop())
		launch_continue(&s->launch);
	while ((pid = next_ended(&of)) > 0) {
		source_ending(s->source, pid);
		if (wait4(pid, &status, WNOHANG, &ru) != pid)
			break;
		source_reaped(s->source, pid, status, &ru);
		if (pid != s->launch.pid)
			continue;
		s->root_ended = true;
		s->root_status = status;
		s->has_status = true;
		s->root_usage = ru;
		s->ended_ns = now_ns(CLOCK_MONOTONIC);
		if (s->config->wait_tree)
			signals_take_interrupt(&s->signals);
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
	s->ended_ns = now_ns(CLOCK_MONOTONIC);
	s->stop = !s->config->wait_tree;
}

static void forward(struct session *s, int signo)
{
	int64_t now = now_ns(CLOCK_MONOTONIC);

	if (s->root_ended || attached(s)) {
		/* Only the tree is waited for, or looked at: the signal ends that. */
		if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP)
			s->stop = true;
		return;
	}
	kill(s->launch.pid, signo);
	if (signo != SIGTERM || s->signals.term_ignored)
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
	signals_stop();
}

static void take_signals(struct session *s)
{
	bool kernel;
	int signo;

	while ((signo = signals_next(&s->signals, &kernel))) {
		if (signo == SIGCHLD)
			reap(s);
		else if (signo == SIGTSTP)
			told_to_stop(s, kernel);
		else
			forward(s, signo);
	}
}

static bool tree_lives(struct session *s)
{
	struct tree_sample t = { .at_ns = now_ns(CLOCK_MONOTONIC) };

	sampler_totals(&s->sampler, &t);
	return t.totals.processes > 0;
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
	if (s->root_ended) /* --wait-tree: its end is seen by looking */
		ms = sooner(ms, 40 * NS_PER_MS);
	return ms;
}

static int watch(struct session *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || !epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? 0 : -errno;
}

static void loop(struct session *s)
{
	struct epoll_event ev[4];

	while (!s->stop) {
		int64_t now = now_ns(CLOCK_MONOTONIC);
		int n = epoll_wait(s->epoll_fd, ev, 4, wait_ms(s, now));

		for (int i = 0; i < n; i++)
			if (ev[i].data.fd == s->signals.fd)
				take_signals(s);
			else if (ev[i].data.fd == s->channel.epoll_fd)
				control_serve(&s->control);
			else
				see_target(s, ev[i].data.fd);
		drain(s);
		now = now_ns(CLOCK_MONOTONIC);
		planned_serve(&s->planned, &s->control, now - s->start_ns);
		if (s->term_deadline_ns && now >= s->term_deadline_ns && !s->root_ended)
			s->terminated = s->stop = true;
		if (s->detach_at_ns && now >= s->detach_at_ns)
			s->stop = true;
		if (s->root_ended && !s->stop && !tree_lives(s))
			s->stop = true;
		if (!s->stop && s->sampler.doubt_at_ns && now >= s->sampler.doubt_at_ns)
			sampler_look_again(&s->sampler, &s->run);
		if (!s->stop && s->config->interval_s > 0 && now >= s->next_sample_ns)
			sample(s);
	}
	control_finish(&s->control);
}

/* --- beginning ----------------------------------------------------------------------------- */

static int open_outputs(struct session *s)
{
	const struct config *c = s->config;
	int err;

	err = output_open(c->quiet ? NULL : c->report, c->append, &s->report_out);
	if (!c->quiet && !c->report)
		output_stderr(&s->report_out);
	if (!err)
		err = output_open(c->json, false, &s->json_out);
	if (!err)
		err = output_open(c->journal, false, &s->journal_out);
	if (!err && c->all) {
		err = spool_open(&s->spool);
		if (err)
			log_line("no temporary file for --all: %s", strerror(-err));
	}
	return err;
}

/* Before the command is forked: it inherits the variable. */
static int open_control(struct session *s, const struct identity *as)
{
	const struct config *c = s->config;
	int err;

	s->control = (struct control){ .channel = &s->channel,
				       .run = &s->run,
				       .sampler = &s->sampler,
				       .journal = &s->journal,
				       .split = &s->split,
				       .disk = c->n_disks ? c->disks[0] : NULL,
				       .ctx = s,
				       .drain = drain_for_control };
	if (c->command) {
		err = channel_open_private(&s->channel, as);
		s->no_private_socket = err;
	}
	return c->control ? channel_open(&s->channel, c->control, as) : 0;
}

/* Why the source can never be exact; NULL: it can.  A loss before the start is one for all time. */
static const char *why_not_exact(const struct session *s)
{
	struct loss loss;

	if (s->source->info.degraded)
		return s->source->info.degraded;
	if (!s->source->info.exact)
		return *s->fallback_reason ? s->fallback_reason : "sampled by choice";
	return source_losses(s->source, &loss, 1) ? loss.what : NULL;
}

/* The best source there is; why a better one was refused stays in fallback_reason. */
static int open_source(struct session *s)
{
	const char *why;
	const struct config *c = s->config;
	const struct source_sink sink = { s, on_fork, on_exec, on_exit_record, on_oom, on_env };
	const struct source_options o = { .root = s->launch.pid,
					  .roots = c->pids,
					  .n_roots = c->n_pids,
					  .tick = c->tick && c->interval_s > 0,
					  .split = c->split,
					  .split_env = split_key_variable(c->split_key),
					  .debug = c->debug,
					  .plan = c->source_plan };
	int err = choice_open(c, &o, &sink, &s->source, s->fallback_reason,
			      sizeof(s->fallback_reason));

	if (err && targets_changed(&s->targets))
		log_line("process %d ended while it was attached to", c->pids[0]);
	else if (err)
		log_line("no source: %s", s->fallback_reason);
	if (!err && s->source->info.refused && *s->source->info.refused)
		snprintf(s->fallback_reason, sizeof(s->fallback_reason), "%s",
			 s->source->info.refused);
	if (!err && c->require_exact) {
		why = why_not_exact(s);
		if (why)
			log_line("not exact, not started: %s", why);
		err = why ? -EPERM : 0;
	}
	return err;
}

static char *copy_or_null(const char *text)
{
	return text && *text ? strdup(text) : NULL;
}

static void fill_source(const struct session *s, struct source_facts *f)
{
	const struct source_info *i = &s->source->info;

	*f = (struct source_facts){ .exits = copy_or_null(i->exits),
				    .hook = copy_or_null(i->hook),
				    .fallback_reason = copy_or_null(s->fallback_reason),
				    .tree = copy_or_null(i->tree),
				    .samples = copy_or_null(i->samples),
				    .interval_ns =
					    (int64_t)(s->config->interval_s * (double)NS_PER_S),
				    .self_cpu_ns = UNKNOWN,
				    .self_peak_rss_bytes = UNKNOWN,
				    .stops = i->stops,
				    .stopped_ns = i->stopped_ns };
}

/* Nobody sees it in the text report. */
static bool document_wanted(const struct session *s)
{
	return s->json_out.fd >= 0 || s->journal_out.fd >= 0;
}

static void begin_journal(struct session *s)
{
	struct source_facts source;

	if (document_wanted(s))
		env_read_start(&s->env, &s->env_reading, s->facts.cwd, s->run.n_cpus);
	fill_source(s, &source);
	journal_start(&s->journal, s->start_ns, &s->facts, &source, &s->env);
	source_facts_free(&source);
}

/*
 * Lets it run, and meanwhile reads what the first line of the journal tells; but attempts that
 * begin with the run are lines behind that one, and have to begin before it is let go.
 */
static int let_go(struct session *s)
{
	bool planned = planned_next_ns(&s->planned) != TIME_NONE;
	pid_t root = attached(s) ? s->config->pids[0] : s->launch.pid;
	int err;

	s->env_reading.of = attached(s) ? root : 0;
	if (document_wanted(s))
		env_read_root(&s->env, root);
	if (planned) {
		begin_journal(s);
		planned_serve(&s->planned, &s->control, 0);
	}
	err = attached(s) ? 0 : launch_go(&s->launch);
	if (!planned)
		begin_journal(s);
	flush_journal(s); /* there from the start, whatever happens to us */
	return err;
}

static int start(struct session *s)
{
	const struct config *c = s->config;
	double least = c->interval_s > 0 && c->interval_s < EM_MIN_SAMPLE_SECONDS
			       ? c->interval_s
			       : EM_MIN_SAMPLE_SECONDS;
	int err;

	s->start_ns = now_ns(CLOCK_MONOTONIC);
	s->started_at_ns = now_ns(CLOCK_REALTIME);
	err = run_init(&s->run, s->start_ns, least, (int)sysconf(_SC_NPROCESSORS_ONLN));
	if (err)
		return err;
	if (scan_available())
		texts_add(&s->run.notes, "%s",
			  scan_available() == -ESRCH ? "proc-of-another-namespace" : "no-proc");
	else if (!s->source->info.exact && scan_hides_others())
		texts_add(&s->run.notes, "proc-hides-others");
	if (s->source->info.degraded)
		texts_add(&s->run.reasons, "%s", s->source->info.degraded);
	if (s->no_private_socket)
		texts_add(&s->run.notes, "no-control-socket");
	s->facts.pid = attached(s) ? c->pids[0] : s->launch.pid;
	s->facts.started_at_ns = s->started_at_ns;
	journal_init(&s->journal, s->journal_out.fd);
	err = output_begin(&s->journal_out);
	if (err)
		return err;
	s->split = (struct split){ .on = c->split && s->source->ops->run_totals,
				   .wait_tree = c->wait_tree,
				   .key = c->split_key,
				   .source = s->source,
				   .scan = s->sampler.scanning ? s->sampler.scan : NULL,
				   .journal = &s->journal,
				   .io_source = s->control.io_source,
				   .min_sample_s = least,
				   .n_cpus = s->run.n_cpus,
				   .start_ns = s->start_ns,
				   .exact_source = s->source->info.exact,
				   .reasons = &s->run.reasons };
	err = planned_open(&s->planned, c->spans, s->started_at_ns);
	if (err)
		return err;
	if (c->split && !s->split.on)
		texts_add(&s->run.notes, "not-split");
	s->next_sample_ns = s->start_ns + (int64_t)(c->interval_s * (double)NS_PER_S);
	if (c->duration_s > 0)
		s->detach_at_ns = s->start_ns + (int64_t)(c->duration_s * (double)NS_PER_S);
	return let_go(s);
}

/* --- the end ------------------------------------------------------------------------------- */

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * NS_PER_S + (int64_t)t.tv_usec * NS_PER_US;
}

static void fill_run(struct session *s, struct summary *sum)
{
	struct run_facts *f = &sum->run;

	*f = s->facts;
	s->facts = (struct run_facts){ 0 };
	f->wall_ns = s->ended_ns - s->start_ns;
	f->oom_killed = s->run.oom_killed;
	f->detached = attached(s) && !s->root_ended;
	if (!s->has_status)
		return;
	f->core_dumped = WIFSIGNALED(s->root_status) && WCOREDUMP(s->root_status);
	if (WIFSIGNALED(s->root_status))
		f->exit_signal = WTERMSIG(s->root_status);
	else
		f->exit_code = WEXITSTATUS(s->root_status);
	if (attached(s))
		return;
	sum->rusage = (struct rusage_facts){ s->root_usage.ru_maxrss * 1024,
					     timeval_ns(s->root_usage.ru_utime),
					     timeval_ns(s->root_usage.ru_stime) };
}

static void fill_env(struct session *s, struct summary *sum)
{
	if (document_wanted(s))
		env_read_end(&s->env, &s->env_reading);
	sum->env = s->env;
	s->env = env_blank();
}

/* What had not ended when the run did has the run's own. */
static int fill_open(struct stretches *all, const struct disk *d)
{
	for (struct stretch *s = all->first; s; s = s->next) {
		if (s->ended_ns != TIME_NONE || s->disk.path)
			continue;
		s->disk = *d;
		s->disk.path = strdup(d->path);
		if (!s->disk.path)
			return -ENOMEM;
	}
	return 0;
}

/* After all that counts time: it may take long. */
static int fill_disks(const struct config *c, struct summary *sum)
{
	sum->disks = calloc(c->n_disks + 1, sizeof(*sum->disks));
	if (!sum->disks)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_disks; i++) {
		struct disk *d = &sum->disks[sum->n_disks++];

		d->path = strdup(c->disks[i]);
		if (!d->path)
			return -ENOMEM;
		disk_measure(d, &sum->source.notes);
	}
	return sum->n_disks && (fill_open(&sum->phases, sum->disks) ||
				fill_open(&sum->attempts, sum->disks))
		       ? -ENOMEM
		       : 0;
}

static void fill_self(const struct session *s, struct summary *sum)
{
	struct proc_status status;
	struct rusage ru;

	if (!getrusage(RUSAGE_SELF, &ru))
		sum->source.self_cpu_ns = timeval_ns(ru.ru_utime) + timeval_ns(ru.ru_stime) +
					  s->source->helper_cpu_ns;
	if (!scan_status(getpid(), &status))
		sum->source.self_peak_rss_bytes = status.vm_hwm_bytes + s->source->helper_rss_bytes;
}

/* Nobody asked for it to be left out. */
static void note_missing_tick(struct session *s)
{
	const struct config *c = s->config;

	if (c->tick && c->interval_s > 0 && !strcmp(s->source->info.samples, "bpf+proc"))
		texts_add(&s->run.notes, "no-kernel-tick");
}

static int finish(struct session *s, struct summary *sum)
{
	struct loss losses[LOSSES_MAX];
	struct run_end end = { .losses = losses };
	int err;

	err = source_finish(s->source, s->root_ended, &end.totals);
	if (err && err != -ETIME)
		texts_add(&s->run.reasons, "a record was not taken: %s", strerror(-err));
	end.records_missing = err == -ETIME;
	if (end.totals.interval_max_bytes < s->sampler.interval_max_bytes)
		end.totals.interval_max_bytes = s->sampler.interval_max_bytes;
	if (!s->root_ended || s->config->wait_tree)
		s->ended_ns = now_ns(CLOCK_MONOTONIC);
	end.at_ns = now_ns(CLOCK_MONOTONIC);
	split_finish(&s->split, end.at_ns);
	end.n_losses = source_losses(s->source, losses, LOSSES_MAX);
	end.exact_source = s->source->info.exact;
	for (size_t i = 0; i < end.n_losses; i++)
		journal_lost(&s->journal, end.at_ns, &losses[i]);
	note_missing_tick(s);
	for (size_t i = 0; i < s->source->notes.n; i++)
		texts_add(&s->run.notes, "%s", s->source->notes.at[i]);
	fill_source(s, &sum->source);
	fill_run(s, sum);
	fill_env(s, sum);
	end.rusage = sum->rusage;
	sum->aged_at_ns = s->started_at_ns + (end.at_ns - s->start_ns);
	sum->usage.io_source = strdup(s->source->info.exact ? "exit" : "proc");
	err = run_finish(&s->run, &end, (enum top_order)s->config->sort, sum);
	if (sum->run.wall_ns > 0 && sum->usage.cpu_ns >= 0)
		sum->usage.mean_cpus = (double)sum->usage.cpu_ns / (double)sum->run.wall_ns;
	return err || !document_wanted(s) ? err : fill_disks(s->config, sum);
}

static void write_reports(struct session *s)
{
	struct summary *sum = summary_new();
	int err = sum ? finish(s, sum) : -ENOMEM;

	if (err) {
		log_line("no report: %s", strerror(-err));
		summary_free(sum);
		return;
	}
	if (s->config->spans)
		spans_add(s->config->spans, sum);
	fill_self(s, sum);
	journal_summary(&s->journal, now_ns(CLOCK_MONOTONIC), sum);
	flush_journal(s);
	output_close(&s->journal_out, 0);
	report_json(s->config, &s->json_out, sum, &s->spool);
	report_text(s->config, &s->report_out, sum, &s->spool);
	if (s->spool.err)
		log_line("the temporary file for --all failed: %s", strerror(-s->spool.err));
	summary_free(sum);
}

static int status_of(struct session *s)
{
	bool identity = false;
	const char *command;
	int err;

	if (attached(s))
		return 0;
	command = s->config->command[0];
	err = s->root_ended ? launch_error(&s->launch, &identity) : 0;
	if (identity) {
		log_line("cannot run as user '%s': %s", s->config->user, strerror(err));
		return STATUS_FAILED;
	}
	if (err) {
		log_line("cannot run '%s': %s", command, strerror(err));
		return err == ENOENT || err == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	if (!s->root_ended)
		return STATUS_TERMINATED;
	return WIFSIGNALED(s->root_status) ? 128 + WTERMSIG(s->root_status)
					   : WEXITSTATUS(s->root_status);
}

static void session_free(struct session *s)
{
	targets_close(&s->targets);
	planned_close(&s->planned);
	split_free(&s->split);
	source_close(s->source);
	scan_free(s->sampler.scan);
	channel_close(&s->channel);
	run_free(&s->run);
	facts_free(&s->facts);
	env_free(&s->env);
	journal_free(&s->journal);
	spool_close(&s->spool);
	output_close(&s->report_out, 0);
	output_close(&s->json_out, 0);
	output_close(&s->journal_out, 0);
	signals_close(&s->signals);
	if (s->launch.error_fd > 0)
		close(s->launch.error_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
}

static int open_targets(struct session *s)
{
	int err = targets_open(s->config, &s->targets);

	if (err)
		return err;
	signals_take_interrupt(&s->signals);
	signals_ignore_refusals();
	return facts_of_target(s->config, &s->facts);
}

static int hold_command(struct session *s, const struct identity *as)
{
	struct launch_command command = { .argv = s->config->command, .as = as };
	int err = facts_of_command(s->config, &s->facts);

	if (err)
		return err;
	command.mask = &s->signals.mask;
	command.sigchld = &s->signals.child;
	err = launch_hold(&command, &s->launch);
	if (err) {
		log_line("cannot fork: %s", strerror(-err));
		return err;
	}
	signals_ignore_keyboard();
	signals_ignore_refusals();
	return 0;
}

/* A target that has ended may have been another process when the tree was taken in. */
static int watch_targets(struct session *s)
{
	int err = 0;

	if (targets_changed(&s->targets)) {
		log_line("process %d ended while it was attached to", (int)s->targets.at[0].pid);
		return -ESRCH;
	}
	for (size_t i = 0; !err && i < s->targets.n; i++)
		err = watch(s, s->targets.at[i].fd);
	return err;
}

/* Everything up to the moment the command may run. */
static int prepare(struct session *s, const struct identity *as)
{
	int err = signals_open(&s->signals);

	if (!err)
		err = attached(s) ? open_targets(s) : hold_command(s, as);
	if (err)
		return err;
	descriptors_release();
	/* The first fork record is the root's, and comes with the first drain. */
	s->sampler.scanning = !scan_available();
	s->sampler.scan = scan_new();
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = s->sampler.scan && s->epoll_fd >= 0 ? open_source(s) : -ENOMEM;
	if (!err)
		err = watch(s, s->signals.fd);
	if (!err)
		err = watch(s, source_poll_fd(s->source));
	if (!err)
		err = watch(s, s->channel.epoll_fd);
	if (!err)
		err = watch_targets(s);
	if (err) {
		if (!attached(s))
			launch_cancel(&s->launch);
		return err;
	}
	s->sampler.source = s->source;
	s->control.io_source = s->source->info.exact ? "exit" : "proc";
	if (s->source->info.exact)
		privileges_drop(s->config->user);
	else
		s->sampler.scanning = false; /* that source reads /proc itself */
	return 0;
}

int session_run(const struct config *c, const struct identity *as)
{
	struct session s = { .config = c,
			     .signals.fd = -1,
			     .env = env_blank(),
			     .launch.error_fd = -1,
			     .epoll_fd = -1,
			     .report_out.fd = -1,
			     .json_out.fd = -1,
			     .journal_out.fd = -1,
			     .journal.fd = -1,
			     .sampler.interval_max_bytes = UNKNOWN };
	int status = STATUS_FAILED;

	channel_init(&s.channel);
	if (!open_outputs(&s) && !open_control(&s, as) && !prepare(&s, as)) {
		int err = start(&s);

		if (err) {
			log_line("cannot start: %s", strerror(-err));
			if (!attached(&s))
				launch_cancel(&s.launch);
		} else {
			loop(&s);
			write_reports(&s);
			status = status_of(&s);
		}
	}
	session_free(&s);
	return status;
}
