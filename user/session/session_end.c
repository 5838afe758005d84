// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * session_end - what a run came to: the summary filled, the outputs written
 */
#include "session/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/disk.h"
#include "journal/spans.h"
#include "log.h"
#include "procfs/scan.h"
#include "session/reports.h"

bool session_document_wanted(const struct session *s)
{
	const struct config *c = s->config;

	return s->out->json.fd >= 0 || s->out->journal.fd >= 0 || s->out->after.journal_fd >= 0 ||
	       s->out->recorder.journal_fd >= 0 ||
	       (c->kind == &kind_time && strstr(c->format, "%{"));
}

static char *copy_or_null(const char *text)
{
	return text && *text ? strdup(text) : NULL;
}

void session_fill_source(const struct session *s, struct source_facts *f)
{
	const struct source_info *i = &s->source->info;

	*f = (struct source_facts){ .exits = copy_or_null(i->exits),
				    .via = copy_or_null(i->via),
				    .hook = copy_or_null(i->hook),
				    .fallback_reason = copy_or_null(s->fallback_reason),
				    .tree = copy_or_null(i->tree),
				    .samples = copy_or_null(i->samples),
				    .interval_ns =
					    (int64_t)(s->config->interval_s * (double)NS_PER_S),
				    .self_cpu_ns = UNKNOWN,
				    .self_peak_rss_bytes = UNKNOWN,
				    .pss_readings = UNKNOWN,
				    .pss_ns = UNKNOWN,
				    .pss_longest_ns = UNKNOWN,
				    .stops = i->stops,
				    .stopped_ns = i->stopped_ns };
}

/* Nobody sees it in the text report. */
static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * NS_PER_S + (int64_t)t.tv_usec * NS_PER_US;
}

/*
 * When the command ended.  An exact source knows it; we hear of it later, much later where we were
 * stopped meanwhile.
 */
static int64_t wall_ns(const struct session *s)
{
	const struct process *root = s->run.root;
	int64_t heard_ns = s->ended_ns - s->start_ns;

	if (!s->source->info.exact || s->config->wait_tree || !s->root_ended || attached(s) ||
	    !root || root->running || root->ended_ns == TIME_NONE || root->ended_ns <= 0 ||
	    root->ended_ns > heard_ns)
		return heard_ns;
	return root->ended_ns;
}

static void fill_run(struct session *s, struct summary *sum)
{
	struct run_facts *f = &sum->run;

	*f = s->facts;
	s->facts = (struct run_facts){ 0 };
	f->wall_ns = wall_ns(s);
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
	if (session_document_wanted(s))
		env_read_end(&s->env, &s->env_reading);
	else
		s->env.page_size = sysconf(_SC_PAGESIZE);
	sum->env = s->env;
	s->env = env_blank();
}

/* What had not ended when the run did has the run's own. */
static int fill_open(struct stretches *all, const struct disk *d)
{
	for (struct stretch *s = all->first; s; s = s->next) {
		if (s->ended_ns != TIME_NONE || s->disk.path || !d->path)
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
	struct run_end end = { .losses = losses, .load = &s->last_load, .window_ns = s->window_ns };
	int err;

	err = source_finish(s->source, s->root_ended, &end.totals);
	if (err && err != -ETIME)
		texts_add(&s->run.reasons, "a record was not taken: %s", strerror(-err));
	end.records_missing = err == -ETIME;
	if (end.totals.interval_max_bytes < s->sampler.interval_max_bytes)
		end.totals.interval_max_bytes = s->sampler.interval_max_bytes;
	if (!s->root_ended || s->config->wait_tree)
		s->ended_ns = clock_ns(CLOCK_MONOTONIC);
	end.at_ns = clock_ns(CLOCK_MONOTONIC);
	split_finish(&s->split, end.at_ns);
	end.n_losses = source_losses(s->source, losses, LOSSES_MAX - 1);
	if (s->run.rows_refused)
		losses[end.n_losses++] = (struct loss){ "rows-without-memory",
							(uint64_t)s->run.rows_refused, false };
	if (end.totals.lost_exits >= 0)
		end.totals.lost_exits += s->run.rows_refused;
	end.exact_source = s->source->info.exact;
	for (size_t i = 0; i < end.n_losses; i++)
		journal_lost(&s->journal, end.at_ns, &losses[i]);
	note_missing_tick(s);
	for (size_t i = 0; i < s->source->notes.n; i++)
		texts_add(&s->run.notes, "%s", s->source->notes.at[i]);
	session_fill_source(s, &sum->source);
	asked_end(&s->asked, &s->run);
	fill_run(s, sum);
	fill_env(s, sum);
	end.rusage = sum->rusage;
	sum->aged_at_ns = s->started_at_ns + (end.at_ns - s->start_ns);
	sum->usage.io_source = strdup(s->source->info.exact ? "exit" : "proc");
	err = run_finish(&s->run, &end, (enum top_order)s->config->sort, sum);
	if (!err)
		err = asked_fill(&s->asked, &s->sampler.pss, sum);
	if (sum->run.wall_ns > 0 && sum->usage.cpu_ns >= 0)
		sum->usage.mean_cpus = (double)sum->usage.cpu_ns / (double)sum->run.wall_ns;
	return err || !session_document_wanted(s) ? err : fill_disks(s->config, sum);
}

void session_write_reports(struct session *s)
{
	struct summary *sum = summary_new();
	int err = sum ? finish(s, sum) : -ENOMEM;

	if (err) {
		log_line("no report: %s", strerror(-err));
		summary_free(sum);
		return;
	}
	gates_judge(s->config, sum, &s->gates);
	if (s->config->spans)
		spans_add(s->config->spans, sum);
	fill_self(s, sum);
	journal_left_out(&s->journal, clock_ns(CLOCK_MONOTONIC), sum);
	journal_summary(&s->journal, clock_ns(CLOCK_MONOTONIC), sum);
	session_flush_journal(s);
	if (s->repeat) {
		repeat_add(s->repeat, s->out, sum, &s->spool);
		summary_free(sum);
		return;
	}
	output_close(&s->out->journal, 0);
	report_json(s->config, &s->out->json, sum, &s->spool);
	err = after_make(s->config, &s->out->after, &s->out->report, &s->signals->mask);
	/* Better another kind of report than none. */
	if (err || !s->config->kind->made)
		report_text(s->config, &s->out->report, sum, &s->spool);
	if (s->spool.err)
		log_line("the temporary file for --all failed: %s", strerror(-s->spool.err));
	summary_free(sum);
}
