// SPDX-License-Identifier: GPL-2.0-or-later
#include "play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define STARTED_AT_NS 1700000000000000000ll

static const struct tell *const tells[TELLERS] = {
	[TELLER_BPF] = &tell_bpf,
	[TELLER_PTRACE] = &tell_ptrace,
	[TELLER_PROC] = &tell_proc,
};

/* --- as session/session_records ------------------------------------------------------------- */

static int on_fork(void *ctx, const struct fork_record *r)
{
	struct play *p = ctx;

	return run_on_fork(&p->run, r);
}

static int on_exec(void *ctx, const struct exec_record *r)
{
	struct play *p = ctx;

	return run_on_exec(&p->run, r);
}

static int on_exit_record(void *ctx, const struct exit_record *r)
{
	struct play *p = ctx;
	struct exit_record own = *r;
	struct process *row;
	int err;

	if (!p->w.h->attach && own.born_ns >= 0 && own.born_ns < p->run.start_ns)
		own.born_ns = p->run.start_ns;
	if (p->n_rows == sizeof(p->rows) / sizeof(p->rows[0]))
		return -1; /* more than there were processes */
	err = run_on_exit(&p->run, &own, &row);
	if (err)
		return err;
	journal_process(&p->journal, p->at_ns, row, 0);
	p->rows[p->n_rows++] = row;
	return 0;
}

/* --- as session/session_loop, session/control ----------------------------------------------- */

/* What the meter has to make of a look: no shorter than a sample's interval is. */
static void note_cpus(struct play *p, int64_t at_ns)
{
	double elapsed = (double)(at_ns - p->sampled_ns) / NS_PER_S;
	double busy = (double)(p->w.truth.cpu_ns - p->cpu_sampled_ns) / NS_PER_S;

	if (elapsed > 0 && elapsed >= p->run.meter.min_sample_s - 1e-9 &&
	    busy / elapsed > p->cpus_max)
		p->cpus_max = busy / elapsed;
}

static void sample(struct play *p, int64_t at_ns)
{
	struct tree_sample t = { .at_ns = at_ns };
	double cpus = -1;

	p->tell->drain(&p->w);
	p->tell->sample(&p->w, &t);
	if (run_on_sample(&p->run, &t)) {
		cpus = p->run.meter.last_cpus;
		p->samples++;
		note_cpus(p, at_ns);
		p->sampled_ns = at_ns;
		p->cpu_sampled_ns = p->w.truth.cpu_ns;
	}
	journal_sample(&p->journal, &t, &p->run.load, cpus, false);
	p->next_ns = at_ns + p->w.h->interval_ns;
}

static struct moment moment(struct play *p)
{
	struct tree_sample t = { .at_ns = p->at_ns };
	struct scan_counters living = { .user_ns = 0, .marks_bytes = UNKNOWN };
	struct moment m;

	p->tell->drain(&p->w);
	p->tell->sample(&p->w, &t);
	m = run_on_moment(&p->run, &t, p->w.h->teller == TELLER_PROC ? NULL : &living);
	note_cpus(p, p->at_ns);
	journal_sample(&p->journal, &t, &p->run.load, p->run.meter.last_cpus, true);
	return m;
}

static void begin_told(struct play *p, bool attempt)
{
	p->told[p->n_told++] = (struct told){ .attempt = attempt,
					      .from_ns = p->at_ns,
					      .to_ns = -1,
					      .cpu_from_ns = p->w.truth.cpu_ns };
}

static void end_told(struct play *p, bool attempt)
{
	for (size_t i = 0; i < p->n_told; i++) {
		struct told *t = &p->told[i];

		if (t->attempt != attempt || t->to_ns >= 0)
			continue;
		t->to_ns = p->at_ns;
		t->cpu_to_ns = p->w.truth.cpu_ns;
	}
}

static int phase(struct play *p)
{
	struct moment m = moment(p);
	char name[16];
	int len = snprintf(name, sizeof(name), "p%zu", p->n_told);

	journal_phase(&p->journal, p->at_ns, name, (size_t)len, m.rss_bytes);
	end_told(p, false);
	begin_told(p, false);
	return run_on_phase(&p->run, name, (size_t)len, &m);
}

static int attempt(struct play *p)
{
	struct moment m = moment(p);
	struct stretch *s;
	char name[16];
	int len;

	if (!p->attempt_open)
		p->attempts++;
	len = snprintf(name, sizeof(name), "%d", p->attempts);
	p->attempt_open = !p->attempt_open;
	if (p->attempt_open) {
		journal_attempt_start(&p->journal, p->at_ns, name, (size_t)len);
		begin_told(p, true);
		return run_on_attempt_start(&p->run, name, (size_t)len, &m);
	}
	end_told(p, true);
	s = run_on_attempt_end(&p->run, name, (size_t)len, &m);
	if (!s)
		return -2;
	journal_attempt_end(&p->journal, p->at_ns, p->run.start_ns, s, "exit");
	return 0;
}

static void fill_facts(const struct play *p, struct run_facts *f, struct source_facts *s,
		       struct env *e)
{
	*f = facts_blank();
	f->id = strdup("history");
	f->mode = strdup(p->w.h->attach ? "attach" : "run");
	f->pid = pid_of(0);
	f->started_at_ns = STARTED_AT_NS;
	*s = (struct source_facts){ .exits = strdup(teller_name(p->w.h->teller)),
				    .tree = strdup("fork-events"),
				    .samples = strdup("history"),
				    .interval_ns = p->w.h->interval_ns,
				    .self_cpu_ns = UNKNOWN,
				    .self_peak_rss_bytes = UNKNOWN,
				    .stops = UNKNOWN,
				    .stopped_ns = UNKNOWN,
				    .pss_readings = UNKNOWN,
				    .pss_ns = UNKNOWN,
				    .pss_longest_ns = UNKNOWN };
	*e = env_blank();
	e->cpus = p->w.h->cpus;
}

static int begin(struct play *p, int journal_fd)
{
	double least = (double)p->w.h->interval_ns / NS_PER_S;
	struct source_facts source;
	struct run_facts facts;
	struct env env;
	int err;

	p->at_ns = p->w.truth.now_ns;
	if (!(least > 0 && least < EM_MIN_SAMPLE_SECONDS))
		least = EM_MIN_SAMPLE_SECONDS;
	err = run_init(&p->run, p->at_ns, least, p->w.h->cpus);
	if (err)
		return err;
	p->run.root_pid = pid_of(0);
	if (p->w.h->budget) {
		p->run.budget.asked = true;
		p->run.budget.budget.limit[BUDGET_PROCESSES] = 5;
		p->run.budget.budget.limit[BUDGET_PEAK_RSS] = 4000 * PAGE_BYTES;
		p->run.budget.budget.limit[BUDGET_CPU] = NS_PER_S / 2;
	}
	p->sampled_ns = p->at_ns;
	p->next_ns = p->w.h->interval_ns ? p->at_ns + p->w.h->interval_ns : INT64_MAX;
	p->tell = tells[p->w.h->teller];
	p->w.sink = (struct source_sink){
		.ctx = p, .on_fork = on_fork, .on_exec = on_exec, .on_exit = on_exit_record
	};
	journal_init(&p->journal, journal_fd, NULL);
	fill_facts(p, &facts, &source, &env);
	journal_start(&p->journal, p->at_ns, &facts, &source, &env);
	facts_free(&facts);
	source_facts_free(&source);
	env_free(&env);
	p->tell->begin(&p->w);
	return p->w.err;
}

static int one_step(struct play *p, const struct step *s)
{
	/* Samples that were due before it, perhaps a little late. */
	while (p->w.truth.begun_ns >= 0 && p->next_ns < s->at_ns) {
		struct step nothing = { .what = STEP_WORK, .who = s->who, .at_ns = p->next_ns };

		p->at_ns = nothing.at_ns;
		truth_step(&p->w.truth, &nothing, p->w.h);
		sample(p, p->next_ns);
	}
	p->at_ns = s->at_ns;
	if (p->w.truth.begun_ns >= 0 && s->what != STEP_ATTACH)
		p->tell->before(&p->w, s);
	truth_step(&p->w.truth, s, p->w.h);
	if (p->w.truth.begun_ns < 0)
		return 0;
	if (s->what == STEP_ATTACH)
		return 0;
	p->tell->after(&p->w, s);
	if (!(s->luck >> 50 & 3))
		p->tell->drain(&p->w);
	if (s->what == STEP_PHASE)
		return phase(p);
	return s->what == STEP_ATTEMPT ? attempt(p) : 0;
}

/* Those that live end now, one after the other, or only the root. */
static int wind_up(struct play *p)
{
	struct truth *t = &p->w.truth;
	int err = 0;

	for (int n = 0; !err && n < PROCESSES; n++) {
		uint64_t luck = luck_of(p->w.h->seed + 1000 + (uint64_t)n);
		int who = (n * 7 + (int)(p->w.h->seed % 5)) % PROCESSES;
		struct step s = { STEP_EXIT, who, 0, 0, luck };

		s.n = (int64_t)(luck % 2);
		s.at_ns = t->now_ns + (int64_t)(luck >> 8) % 30000000;
		if (who >= t->n || !t->all[who].alive || (p->w.h->left && who))
			continue;
		/* Attached to, it may go on as well. */
		if (p->w.h->left && p->w.h->attach && luck >> 40 & 1)
			continue;
		err = one_step(p, &s);
	}
	p->root_ended = !t->all[0].alive;
	return err;
}

static int finish(struct play *p)
{
	struct run_end end = { .exact_source = p->w.h->teller != TELLER_PROC,
			       .rusage = { UNKNOWN, UNKNOWN, UNKNOWN },
			       .window_ns = UNKNOWN };
	struct loss losses[LOSSES_MAX];
	struct summary *s = summary_new();
	int err;

	if (!s)
		return -ENOMEM;
	p->summary = s;
	p->at_ns = p->end_ns = p->w.truth.now_ns + 1000000;
	p->tell->finish(&p->w, p->root_ended, p->end_ns, &end.totals);
	p->last = end.totals;
	end.at_ns = p->end_ns;
	end.losses = losses;
	end.n_losses = p->tell->losses(&p->w, losses);
	for (size_t i = 0; i < end.n_losses; i++)
		journal_lost(&p->journal, p->end_ns, &losses[i]);
	facts_free(&s->run);
	source_facts_free(&s->source);
	env_free(&s->env);
	fill_facts(p, &s->run, &s->source, &s->env);
	s->run.wall_ns = p->end_ns - p->run.start_ns;
	s->aged_at_ns = STARTED_AT_NS + s->run.wall_ns;
	s->usage.io_source = strdup(end.exact_source ? "exit" : "proc");
	err = run_finish(&p->run, &end, TOP_PEAK, s);
	if (s->usage.cpu_ns >= 0)
		s->usage.mean_cpus = (double)s->usage.cpu_ns / (double)s->run.wall_ns;
	journal_summary(&p->journal, p->end_ns, s);
	return err ? err : journal_flush(&p->journal);
}

int play(struct play *p, const struct history *h, size_t steps, int journal_fd)
{
	int err = 0;

	memset(p, 0, offsetof(struct play, w.truth));
	memset((char *)p + offsetof(struct play, w.sink), 0,
	       sizeof(*p) - offsetof(struct play, w.sink));
	p->w.h = h;
	p->cpus_max = -1;
	world = &p->w;
	truth_begin(&p->w.truth, h);
	if (!h->attach)
		err = begin(p, journal_fd);
	for (size_t i = 0; !err && i < steps; i++) {
		err = one_step(p, &h->steps[i]);
		if (!err && h->steps[i].what == STEP_ATTACH)
			err = begin(p, journal_fd);
	}
	if (p->w.truth.begun_ns < 0)
		return err;
	if (!err)
		err = wind_up(p);
	if (!err)
		err = finish(p);
	return err ? err : p->w.err;
}

void play_free(struct play *p)
{
	for (size_t i = 0; i < p->n_rows; i++)
		process_unref(p->rows[i]);
	if (p->tell) {
		run_free(&p->run);
		journal_free(&p->journal);
	}
	summary_free(p->summary);
	p->n_rows = 0;
	p->summary = NULL;
	p->tell = NULL;
}
