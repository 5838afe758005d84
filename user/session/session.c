// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"
#include "log.h"
#include "procfs/scan.h"
#include "session/choice.h"
#include "session/facts.h"
#include "session/privileges.h"

#define STATUS_TERMINATED (128 + SIGTERM)

/* --- beginning ----------------------------------------------------------------------------- */

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
				       .drain = session_drain_for_control };
	if (c->command) {
		err = channel_open_private(&s->channel, as);
		s->no_private_socket = err;
	}
	err = c->control ? channel_open(&s->channel, c->control, as) : 0;
	if (!err && s->repeat)
		channel_take_half(&s->channel, &s->repeat->half);
	return err;
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
	struct source_sink sink = session_sink;
	const struct source_options o = { .root = s->launch.pid,
					  .roots = c->pids,
					  .n_roots = c->n_pids,
					  .tick = c->tick && c->interval_s > 0,
					  .split = c->split,
					  .split_env = split_key_variable(c->split_key),
					  .start_env = c->scheduler.start_env,
					  .debug = c->debug,
					  .plan = c->source_plan,
					  .program = s->facts.exe_path };
	int err;

	sink.ctx = s;
	err = choice_open(c, &o, &sink, &s->source, s->fallback_reason, sizeof(s->fallback_reason));

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

static void begin_journal(struct session *s)
{
	struct source_facts source;

	if (session_document_wanted(s))
		env_read_start(&s->env, &s->env_reading, s->facts.cwd, s->run.n_cpus);
	session_fill_source(s, &source);
	journal_start(&s->journal, s->start_ns, &s->facts, &source, &s->env);
	source_facts_free(&source);
}

/* What a held child has used is nothing; of a tree that runs already the source knows. */
static void begin_load(struct session *s)
{
	struct tree_sample t = { .at_ns = s->start_ns };
	struct load_reading first;

	if (attached(s))
		sampler_totals(&s->sampler, &t);
	sampler_load(&s->sampler, &first);
	first.tree_ns = t.totals.cpu_ns;
	load_on_reading(&s->run.load, &first, s->start_ns);
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
	if (session_document_wanted(s))
		env_read_root(&s->env, root);
	/* Of a tree that runs the first look may have rows already. */
	if (planned || attached(s))
		begin_journal(s);
	if (planned)
		planned_serve(&s->planned, &s->control, 0);
	begin_load(s);
	asked_start(&s->asked, clock_ns(CLOCK_MONOTONIC));
	err = attached(s) ? 0 : launch_go(&s->launch);
	if (!planned && !attached(s))
		begin_journal(s);
	session_flush_journal(s); /* there from the start, whatever happens to us */
	return err;
}

static int start(struct session *s)
{
	const struct config *c = s->config;
	double least = c->interval_s > 0 && c->interval_s < EM_MIN_SAMPLE_SECONDS
			       ? c->interval_s
			       : EM_MIN_SAMPLE_SECONDS;
	int err;

	s->start_ns = clock_ns(CLOCK_MONOTONIC);
	s->started_at_ns = clock_ns(CLOCK_REALTIME);
	err = run_init(&s->run, s->start_ns, least, (int)sysconf(_SC_NPROCESSORS_ONLN));
	if (err)
		return err;
	s->run.root_pid = attached(s) ? c->pids[0] : s->launch.pid;
	if (scan_available())
		texts_add(&s->run.notes, "%s",
			  scan_available() == -ESRCH ? "proc-of-another-namespace" : "no-proc");
	else if (!s->source->info.exact && scan_hides_others())
		texts_add(&s->run.notes, "proc-hides-others");
	if (s->source->info.degraded)
		texts_add(&s->run.reasons, "%s", s->source->info.degraded);
	if (s->started_busy)
		texts_add(&s->run.notes, "host-not-quiet-at-start");
	if (s->no_private_socket)
		texts_add(&s->run.notes, "no-control-socket");
	s->facts.pid = s->run.root_pid;
	s->facts.started_at_ns = s->started_at_ns;
	journal_init(&s->journal, s->out->journal.fd, &s->out->room);
	s->journal.copy_fds[COPY_FOR_REPORT] = s->out->after.copy_fd;
	s->journal.copy_fds[COPY_FOR_RECORD] = s->out->recorder.journal_fd;
	err = output_begin(&s->out->journal);
	if (err)
		return err;
	if (c->budget) {
		const char *why;

		s->run.budget.asked = true;
		s->run.budget.budget.upper = c->budget_on && !strcmp(c->budget_on, "upper");
		err = budget_parse(c->budget, &s->run.budget.budget, &why);
		if (err)
			return err;
	}
	s->split = (struct split){ .on = c->split && s->source->ops->run_totals,
				   .wait_tree = c->wait_tree,
				   .key = c->split_key,
				   .start_env = c->scheduler.start_env,
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

/* --- its life ------------------------------------------------------------------------------- */

static int status_of(struct session *s)
{
	bool identity = false;
	const char *command;
	int err;

	if (attached(s))
		return 0;
	command = s->config->command[0];
	err = s->root_ended ? launch_error(&s->launch, &identity) : 0;
	s->no_command = err;
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

/*
 * Where it has to be known whether the host was quiet, a run that was too short is waited on, and
 * what was foreign in all that time charged to it (SPEC H-24, H-30a).
 */
static void end_load(struct session *s)
{
	int64_t from_ns = s->run.load.first.at_ns, now_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t short_ns = LOAD_MIN_SPAN_NS - (now_ns - from_ns);
	const struct timespec rest = { .tv_nsec = (long)short_ns };

	if (s->config->require_quiet && short_ns > 0) {
		s->window_ns = (s->root_ended ? s->ended_ns : now_ns) - from_ns;
		nanosleep(&rest, NULL);
	}
	sampler_load(&s->sampler, &s->last_load);
}

static void session_free(struct session *s)
{
	targets_close(&s->targets);
	load_close(&s->sampler.load);
	planned_close(&s->planned);
	split_free(&s->split);
	source_close(s->source);
	scan_free(s->sampler.scan);
	if (s->repeat)
		channel_keep_half(&s->channel, &s->repeat->half);
	channel_close(&s->channel);
	run_free(&s->run);
	facts_free(&s->facts);
	env_free(&s->env);
	journal_free(&s->journal);
	spool_close(&s->spool);
	progress_close(&s->progress);
	asked_close(&s->asked);
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
	signals_take_interrupt(s->signals);
	signals_ignore_refusals();
	return facts_of_target(s->config, &s->facts);
}

static int hold_command(struct session *s, const struct identity *as)
{
	struct launch_command command = { .argv = s->config->command, .as = as };
	int err = facts_of_command(s->config, &s->facts);

	if (!err && s->repeat)
		err = repeat_name(s->repeat, s->config, &s->facts);
	if (err)
		return err;
	signals_as_started(s->signals);
	command.mask = &s->signals->mask;
	command.sigchld = &s->signals->child;
	err = launch_hold(&command, &s->launch);
	if (err) {
		log_line("cannot fork: %s", strerror(-err));
		return err;
	}
	if (s->repeat)
		signals_take_keyboard(s->signals);
	else
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
		err = session_watch(s, s->targets.at[i].fd);
	return err;
}

/* Whether it can be had at all is seen at ourselves. */
static void init_pss(struct session *s)
{
	struct proc_rollup own;
	int err = s->config->pss ? scan_rollup(getpid(), &own) : 0;

	pss_init(&s->sampler.pss, s->config->pss, err);
}

/* Everything up to the moment the command may run. */
static int prepare(struct session *s, const struct identity *as, int *ret_status)
{
	int signo, err = s->signals->fd < 0 ? signals_open(s->signals) : 0;

	if (!err)
		err = attached(s) ? open_targets(s) : hold_command(s, as);
	if (err)
		return err;
	descriptors_release();
	asked_prepare(&s->asked, s->config, s->launch.pid);
	/* The first fork record is the root's, and comes with the first drain. */
	s->sampler.scanning = s->sampler.following = !scan_available();
	s->sampler.scan = scan_new();
	load_open(&s->sampler.load);
	init_pss(s);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = s->sampler.scan && s->epoll_fd >= 0 ? open_source(s) : -ENOMEM;
	if (!err)
		err = session_watch(s, s->signals->fd);
	if (!err)
		err = session_watch(s, source_poll_fd(s->source));
	if (!err)
		err = session_watch(s, s->channel.epoll_fd);
	if (!err)
		err = watch_targets(s);
	if (err) {
		signo = attached(s) ? 0 : launch_cancel(&s->launch);
		if (signo) /* as below: it may be why there is no source */
			*ret_status = 128 + signo;
		return err;
	}
	s->sampler.source = s->source;
	s->control.io_source = s->source->info.exact ? "exit" : "proc";
	if (s->source->info.exact)
		privileges_drop(s->config->user || s->asked.cgroup.path,
				s->repeat && !repeat_is_last(s->repeat));
	else
		s->sampler.scanning = false; /* that source reads /proc itself */
	s->sampler.following = s->sampler.scanning || s->sampler.pss.on;
	return 0;
}

/* A command that a signal ended while it was held (Ctrl-C) has that for its status. */
static int not_started(struct session *s, int err, int *ret_status)
{
	int signo = attached(s) ? 0 : launch_cancel(&s->launch);

	if (err == -EPIPE && signo) {
		log_line("the command was ended by signal %d before it could start", signo);
		*ret_status = 128 + signo;
		return err;
	}
	log_line("cannot start: %s", strerror(-err));
	return err;
}

/* *@ret_status: what it was given, STATUS_FAILED, where it did not even start. */
static int meter(struct session *s, const struct identity *as, int *ret_status)
{
	const struct config *c = s->config;
	int err = 0;

	if (c->all) {
		err = spool_open(&s->spool);
		if (err)
			log_line("no temporary file for --all: %s", strerror(-err));
	}
	if (!err)
		err = gates_wait(c, &s->started_busy, ret_status);
	if (!err && s->repeat)
		err = repeat_interrupted(s->repeat, s->signals) ? -EINTR : 0;
	if (!err)
		err = open_control(s, as);
	if (!err)
		err = prepare(s, as, ret_status);
	if (err)
		return err;
	err = start(s);
	if (err)
		return not_started(s, err, ret_status);
	session_loop(s);
	end_load(s);
	session_write_reports(s);
	*ret_status = status_of(s);
	return 0;
}

/* One run, from start to report. */
static void run_once(const struct config *c, const struct identity *as, struct outputs *out,
		     struct signals *signals, struct repeat *repeat, struct run_result *ret)
{
	struct session s = { .config = c,
			     .out = out,
			     .signals = signals,
			     .repeat = repeat,
			     .env = env_blank(),
			     .launch.error_fd = -1,
			     .asked.cgroup.fd = -1,
			     .epoll_fd = -1,
			     .journal.fd = -1,
			     .sampler.interval_max_bytes = UNKNOWN,
			     .sampler.load.fd = -1,
			     .window_ns = UNKNOWN };
	unsigned int said = log_lines();
	int err;

	*ret = (struct run_result){ .status = STATUS_FAILED };
	channel_init(&s.channel);
	progress_open(&s.progress, c);
	if (repeat)
		progress_repeat(&s.progress, repeat->number, c->repeat);
	err = meter(&s, as, &ret->status);
	if (err && err != -EINTR && log_lines() == said)
		log_line("cannot meter: %s", strerror(-err));
	ret->gates = s.gates;
	ret->ends_series = err || s.no_command || s.ends_series || s.terminated;
	session_free(&s);
}

int session_run(const struct config *c, const struct identity *as)
{
	struct repeat repeat = { .config = c };
	struct signals signals = { .fd = -1 };
	struct outputs out;
	struct run_result result;
	int status = STATUS_FAILED;

	if (!outputs_open(c, &out)) {
		if (c->repeat > 1)
			descriptors_keep();
		do {
			repeat.number++;
			if (repeat.number > 1)
				repeat_again(&repeat);
			run_once(c, as, &out, &signals, c->repeat > 1 ? &repeat : NULL, &result);
			repeat_take(&repeat, &result);
		} while (repeat_goes_on(&repeat));
		if (c->repeat > 1)
			repeat_report(&repeat, &out, &signals.mask);
		status = gates_status(c, &repeat.gates, repeat.status);
	}
	signals_close(&signals);
	outputs_close(&out);
	repeat_free(&repeat);
	return status;
}
