// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * session_records - records of the source go into model, scan and journal
 */
#include "session/state.h"

#include <errno.h>
#include <string.h>

#include "log.h"
#include "procfs/scan.h"

static int on_fork(void *ctx, const struct fork_record *r)
{
	struct session *s = ctx;
	int err = run_on_fork(&s->run, r);

	if (!err && s->sampler.following)
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

	if (s->sampler.following && !r->no_exec)
		scan_exec(s->sampler.scan, r->key);
	/* A source that reads /proc itself tells of a process by what it runs first. */
	if (s->sampler.following && !s->sampler.scanning)
		scan_add(s->sampler.scan, r->key, (pid_t)r->key.tgid, 0, false);
	if (!s->config->argv)
		bare.argv_known = false;
	progress_newest(&s->progress, r->comm);
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
	if (s->sampler.following && !r->running)
		scan_remove(s->sampler.scan, r->key);
	journal_process(&s->journal, clock_ns(CLOCK_MONOTONIC), row, run);
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

static int on_env(void *ctx, uint32_t run, enum run_variable which, bool known, const char *value,
		  size_t len)
{
	struct session *s = ctx;

	return split_on_env(&s->split, run, which, known, value, len);
}

void session_flush_journal(struct session *s)
{
	int err = journal_flush(&s->journal);

	/* It ends there, for all runs to come as well. */
	if (err)
		output_close(&s->out->journal, err);
	for (int i = 0; i < JOURNAL_COPIES; i++) {
		if (s->journal.copy_errs[i])
			log_line("cannot write the journal %s: %s",
				 i == COPY_FOR_RECORD ? "in the spool" : "for the report",
				 strerror(-s->journal.copy_errs[i]));
		s->journal.copy_errs[i] = 0;
	}
}

/* A record that cannot be taken is a gap in the figures, never the command's end. */
void session_drain(struct session *s)
{
	int err = source_drain(s->source);

	if (err && !s->sink_err) {
		s->sink_err = err;
		texts_add(&s->run.reasons, "a record was not taken: %s", strerror(-err));
	}
	split_on_drained(&s->split);
	session_flush_journal(s);
}

void session_drain_for_control(void *ctx)
{
	session_drain(ctx);
}

const struct source_sink session_sink = { .on_fork = on_fork,
					  .on_exec = on_exec,
					  .on_exit = on_exit_record,
					  .on_oom = on_oom,
					  .on_env = on_env };
