// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define CUT_OFF  "the journal was cut off"
#define CPUS_MAX (1 << 20)

/* --- folding ------------------------------------------------------------------------------- */

static double least_interval(int64_t interval_ns)
{
	double s = (double)interval_ns / (double)NS_PER_S;

	return s > 0 && s < EM_MIN_SAMPLE_SECONDS ? s : EM_MIN_SAMPLE_SECONDS;
}

static int open_run(struct fold *f)
{
	int err = 0;

	if (!f->run_open)
		err = run_init(&f->run, 0, least_interval(f->source.interval_ns), (int)f->n_cpus);
	if (err)
		return err;
	if (!f->run_open && f->started)
		f->run.root_pid = f->facts.pid;
	f->run_open = true;
	return 0;
}

static int take_start(struct fold *f, json_object *o, struct why *why)
{
	struct summary *blank;
	int err;

	blank = summary_new();
	if (!blank)
		return -ENOMEM;
	err = values_start(o, blank, why);
	if (!err)
		f->n_cpus = blank->env.cpus;
	if (!err && f->n_cpus > CPUS_MAX)
		err = why_set(why, "cpus is too large");
	if (f->n_cpus < 0 || err)
		f->n_cpus = 0;
	if (!err) {
		f->facts = blank->run;
		f->source = blank->source;
		f->env = blank->env;
		blank->run = (struct run_facts){ 0 };
		blank->source = (struct source_facts){ 0 };
		blank->env = env_blank();
		f->started = true;
	}
	summary_free(blank);
	return err;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What run_on_exit tells the peak of, from a row. */
static void peak_of_row(struct fold *f, const struct process *p)
{
	struct exit_record r = { .running = p->running,
				 .ended_ns = larger(p->ended_ns, UNKNOWN),
				 .peak_rss_bytes = p->peak_rss_bytes,
				 .peak_error_bytes = larger(p->peak_error_bytes, 0),
				 .peak_rss_exact = p->peak_rss_exact,
				 .peak_source = p->peak_source,
				 .split = p->split };
	int64_t sum;

	if (__builtin_add_overflow(r.split.anon_bytes, r.split.file_bytes, &sum) ||
	    __builtin_add_overflow(sum, r.split.shmem_bytes, &sum))
		r.split.anon_bytes = UNKNOWN;
	peak_on_process(&f->run.peak, &r);
}

static int take_process(struct fold *f, json_object *o, struct why *why)
{
	struct process *p;
	int err = values_process(o, &p, why);

	if (err)
		return err;
	err = open_run(f);
	if (!err) {
		peak_of_row(f, p);
		f->largest_row_bytes = larger(f->largest_row_bytes, p->peak_rss_bytes);
		f->repaired += !!(p->notes & NOTE_REPAIRED);
		f->faults_known |= p->minor_faults >= 0;
		f->switches_known |= p->voluntary_switches >= 0;
		f->io_known |= p->io.rchar >= 0;
		if (p->peak_rss_bytes > 0 &&
		    __builtin_add_overflow(f->since_bytes, p->peak_rss_bytes, &f->since_bytes))
			f->since_bytes = INT64_MAX;
		run_on_row(&f->run, p);
	}
	process_unref(p);
	return err;
}

static int take_sample(struct fold *f, json_object *o, int64_t at_ns, struct why *why)
{
	struct tree_sample s = { .at_ns = at_ns, .scanned = true };
	struct totals *t = &s.totals;
	struct sample_values told;
	int err = values_sample(o, &told, why);

	if (!err)
		err = open_run(f);
	if (err)
		return err;
	*t = (struct totals){ .processes = told.processes,
			      .threads = told.threads,
			      .cpu_ns = told.cpu_ns,
			      .lower_max_bytes = told.lower_bytes,
			      .upper_max_bytes = UNKNOWN,
			      .lower_max_at_ns = UNKNOWN };
	/* Whatever the larger came from, it was seen resident. */
	t->interval_max_bytes = told.rss_bytes;
	s.scan = (struct scan_result){ .complete = told.rss_bytes >= 0,
				       .processes = 1,
				       .rss_bytes = UNKNOWN,
				       .net_rss_bytes = told.rss_bytes,
				       .split = { .anon_bytes = UNKNOWN } };
	if (json_object_object_get_ex(o, "asked", NULL))
		run_on_moment(&f->run, &s, NULL);
	else
		run_on_sample(&f->run, &s);
	err = values_sample_load(o, &f->run.load, why);
	if (err)
		return err;
	f->sampled_ns = at_ns;
	f->upper_bytes = larger(f->upper_bytes, told.upper_bytes);
	f->pss_bytes = larger(f->pss_bytes, told.pss_bytes);
	f->processes_max = larger(f->processes_max, t->processes);
	f->threads_max = larger(f->threads_max, t->threads);
	f->since_bytes = 0;
	return 0;
}

static int take_lost(struct fold *f, json_object *o, struct why *why)
{
	json_object *what;
	int64_t count = UNKNOWN;
	int err = value_int(o, "count", &count, why);

	if (!err && (!json_object_object_get_ex(o, "what", &what) ||
		     !json_object_is_type(what, json_type_string) || count < 0))
		err = why_set(why, "lost without what and count");
	if (!err)
		err = open_run(f);
	if (err)
		return err;
	texts_add(&f->run.reasons, "%s: %lld", json_object_get_string(what), (long long)count);
	f->voids = true;
	return 0;
}

static int take_summary(struct fold *f, json_object *o, int64_t at_ns, struct why *why)
{
	struct summary *s = summary_new();
	int err = s ? values_summary(o, s, why) : -ENOMEM;

	if (!err)
		err = values_stretches(o, at_ns, s, why);
	if (!err)
		err = open_run(f);
	if (err) {
		summary_free(s);
		return err;
	}
	f->told = s;
	f->told_ns = at_ns;
	return 0;
}

/* What it came to by then. */
static int take_left_out(struct fold *f, json_object *o, struct why *why)
{
	struct left_out l = left_out_blank();
	int err = value_fields(o, &l, &left_out_fields, why);

	if (!err && (l.from_ns == TIME_NONE || l.processes < 0 || l.failed < 0 || l.samples < 0))
		err = why_set(why, "left_out without from, processes, failed and samples");
	if (!err)
		err = open_run(f);
	if (!err)
		f->left_out = l;
	return err;
}

bool fold_begun(const struct fold *f)
{
	return f->known || f->run_open;
}

/* Of events not known here nothing is said: a later exitmeter may have more. */
int fold_line(struct fold *f, const char *event, json_object *o, struct why *why)
{
	json_object *v;
	int64_t at_ns;
	int err;

	if (!json_object_object_get_ex(o, "t", &v) || !v || value_ns(v, 0, &at_ns))
		return why_set(why, "no t of a journal");
	if (f->told)
		return why_set(why, "a line after the summary");
	/* Of one run of a split tree: the whole tree's tell all. */
	if (strcmp(event, "process") != 0 && strcmp(event, "run_start") != 0 &&
	    json_object_object_get_ex(o, "run", NULL) && strcmp(event, "summary") != 0)
		return 0;
	if (!strcmp(event, "run_start"))
		err = take_start(f, o, why);
	else if (!strcmp(event, "process"))
		err = take_process(f, o, why);
	else if (!strcmp(event, "sample"))
		err = take_sample(f, o, at_ns, why);
	else if (!strcmp(event, "lost"))
		err = take_lost(f, o, why);
	else if (!strcmp(event, "left_out"))
		err = take_left_out(f, o, why);
	else if (!strcmp(event, "summary"))
		err = take_summary(f, o, at_ns, why);
	else if (!strcmp(event, "phase") || !strcmp(event, "attempt_start") ||
		 !strcmp(event, "attempt_end"))
		err = told_take(&f->stretches, event, o, at_ns, why);
	else if (!strcmp(event, "oom"))
		err = open_run(f);
	else
		return 0;
	if (err)
		return err;
	if (!strcmp(event, "oom"))
		f->run.oom_killed = 1;
	f->known = true;
	f->last_ns = larger(f->last_ns, at_ns);
	return 0;
}

/* --- the end ------------------------------------------------------------------------------- */

/* Everything but rows and marks is as the last line tells it. */
static int finish_told(struct fold *f, enum top_order sort, struct summary *s)
{
	struct summary *told = f->told;
	struct run_end end = { .at_ns = f->told_ns,
			       .totals = { .lower_bytes = UNKNOWN,
					   .lower_max_bytes = UNKNOWN,
					   .upper_max_bytes = UNKNOWN,
					   .cpu_ns = told->usage.cpu_ns } };
	int err = run_finish(&f->run, &end, sort, s);

	if (err)
		return err;
	facts_free(&s->run);
	source_facts_free(&s->source);
	texts_free(&s->completeness.reasons);
	s->run = told->run;
	s->source = told->source;
	s->completeness = told->completeness;
	s->usage = told->usage;
	s->rusage = told->rusage;
	memcpy(s->at_peak, told->at_peak, sizeof(s->at_peak));
	s->n_at_peak = told->n_at_peak;
	memcpy(s->groups, told->groups, sizeof(s->groups));
	s->n_groups = told->n_groups;
	s->aged_at_ns = told->aged_at_ns;
	s->aged_ns = told->aged_ns;
	s->phases = told->phases;
	s->attempts = told->attempts;
	s->budget = told->budget;
	host_load_free(&s->host_load);
	s->host_load = told->host_load;
	env_free(&s->env);
	s->env = told->env;
	s->energies = told->energies;
	s->n_energies = told->n_energies;
	s->disks = told->disks;
	s->n_disks = told->n_disks;
	if (told->n_marks && f->left_out.samples) {
		memcpy(s->marks, told->marks, sizeof(s->marks));
		s->n_marks = told->n_marks;
	}
	/* What it owned has moved. */
	told->run = (struct run_facts){ 0 };
	told->source = (struct source_facts){ 0 };
	told->completeness = (struct completeness){ 0 };
	told->usage.io_source = NULL;
	told->phases = told->attempts = (struct stretches){ 0 };
	told->host_load = host_load_blank();
	told->env = env_blank();
	told->energies = NULL;
	told->n_energies = 0;
	told->disks = NULL;
	told->n_disks = 0;
	return 0;
}

static void set_unknown(int64_t *v, bool known)
{
	if (!known)
		*v = UNKNOWN;
}

/* Sums of rows alone: what none of them knew is unknown, not 0. */
static void forget_unknown(struct fold *f, struct usage *u)
{
	if (f->left_out.from_ns != TIME_NONE)
		f->faults_known = f->switches_known = f->io_known = false;
	set_unknown(&u->minor_faults, f->faults_known);
	set_unknown(&u->major_faults, f->faults_known);
	set_unknown(&u->voluntary_switches, f->switches_known);
	set_unknown(&u->involuntary_switches, f->switches_known);
	if (!f->io_known)
		u->io = (struct io_counts){ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
					    UNKNOWN, UNKNOWN, UNKNOWN };
}

/*
 * The upper bound holds up to the last sample.  Those that ended later can have added their peaks;
 * where it does not hold, the sum of all peaks still does.
 */
static void set_upper(const struct fold *f, struct usage *u)
{
	int64_t upper = f->upper_bytes, sum = u->peak_sum_bytes;

	if (upper < 0)
		return;
	if (__builtin_add_overflow(upper, f->since_bytes, &upper))
		upper = INT64_MAX;
	if (f->voids)
		upper = larger(upper, sum);
	upper = larger(upper, u->peak_lower_bytes);
	u->peak_upper_bytes = larger(upper, f->largest_row_bytes);
}

/* What needs every row, or samples as often as they were taken. */
static void forget_left_out(const struct fold *f, struct summary *s)
{
	struct usage *u = &s->usage;

	texts_add(&s->completeness.reasons,
		  "the journal had reached its size at %.1f s: processes and samples are not in it",
		  (double)f->left_out.from_ns / (double)NS_PER_S);
	s->completeness.exits = s->completeness.records_repaired = UNKNOWN;
	u->peak_upper_bytes = u->peak_process_bytes = u->peak_sum_bytes = UNKNOWN;
	u->split = (struct rss_split){ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	u->cpu_user_ns = u->cpu_system_ns = UNKNOWN;
	u->peak_cpus = UNKNOWN;
	u->max_processes = u->total_processes = u->max_threads = UNKNOWN;
	s->n_groups = 0;
}

/* The journal has no end: the rows and the last sample are all there is. */
static int finish_cut(struct fold *f, enum top_order sort, struct summary *s)
{
	bool attached = s->run.mode && !strcmp(s->run.mode, "attach");
	bool told = f->source.exits && strcmp(f->source.exits, "proc") != 0;
	bool left_out = f->left_out.from_ns != TIME_NONE;
	struct run_end end = { .at_ns = f->last_ns,
			       .exact_source = told,
			       .totals = { .initial = attached ? UNKNOWN : 1,
					   .baseline_cpu_ns = UNKNOWN,
					   .forks = UNKNOWN,
					   .exits = told ? f->run.rows : UNKNOWN,
					   .repaired = f->repaired,
					   .processes = UNKNOWN,
					   .processes_max = f->processes_max,
					   .threads_max = f->threads_max,
					   .cpu_ns = f->run.totals.cpu_ns,
					   .lower_bytes = UNKNOWN,
					   .lower_max_bytes = UNKNOWN,
					   .upper_max_bytes = UNKNOWN },
			       .rusage = { UNKNOWN, UNKNOWN, UNKNOWN } };
	int err;

	texts_add(&s->completeness.reasons, CUT_OFF);
	if (f->upper_bytes >= 0 && !left_out)
		texts_add(&s->completeness.reasons,
			  "the upper bound of the peak holds up to the last sample, at %.1f s",
			  (double)f->sampled_ns / (double)NS_PER_S);
	if (!f->run.has_totals)
		end.totals.cpu_ns = UNKNOWN;
	err = run_finish(&f->run, &end, sort, s);
	if (err)
		return err;
	s->cut_off = true;
	s->completeness.running_at_end = s->completeness.events_lost = UNKNOWN;
	forget_unknown(f, &s->usage);
	s->usage.peak_pss_bytes = f->pss_bytes;
	set_upper(f, &s->usage);
	if (left_out)
		forget_left_out(f, s);
	if (f->started) {
		struct run_facts facts = f->facts;

		facts_free(&s->run);
		f->facts = (struct run_facts){ 0 };
		s->run = facts;
		for (size_t i = 0; i < s->source.notes.n; i++)
			texts_add(&f->source.notes, "%s", s->source.notes.at[i]);
		source_facts_free(&s->source);
		s->source = f->source;
		f->source = (struct source_facts){ 0 };
		env_free(&s->env);
		s->env = f->env;
		f->env = env_blank();
		if (s->run.started_at_ns >= 0 &&
		    __builtin_add_overflow(s->run.started_at_ns, f->last_ns, &s->aged_at_ns))
			s->aged_at_ns = UNKNOWN;
	}
	/* How it ended nobody saw. */
	s->run.wall_ns = s->run.exit_code = s->run.exit_signal = UNKNOWN;
	s->run.core_dumped = UNKNOWN;
	s->run.oom_killed = f->run.oom_killed > 0 ? 1 : UNKNOWN;
	if (!f->io_known || !s->source.exits)
		return 0;
	s->usage.io_source = strdup(strcmp(s->source.exits, "proc") ? "exit" : "proc");
	return s->usage.io_source ? 0 : -ENOMEM;
}

int fold_finish(struct fold *f, enum top_order sort, struct summary **ret)
{
	struct summary *s = summary_new();
	int err = s ? open_run(f) : -ENOMEM;

	if (!err)
		err = f->told ? finish_told(f, sort, s) : finish_cut(f, sort, s);
	if (!err && !f->told)
		err = told_finish(&f->stretches, f->left_out.from_ns == TIME_NONE, s);
	if (!err) {
		s->left_out = f->left_out;
		s->rows_omitted += f->left_out.processes;
	}
	if (err)
		summary_free(s);
	else
		*ret = s;
	return err;
}

void fold_init(struct fold *f)
{
	*f = (struct fold){ .env = env_blank(),
			    .left_out = left_out_blank(),
			    .sampled_ns = UNKNOWN,
			    .upper_bytes = UNKNOWN,
			    .processes_max = UNKNOWN,
			    .threads_max = UNKNOWN,
			    .largest_row_bytes = UNKNOWN,
			    .pss_bytes = UNKNOWN };
}

void fold_free(struct fold *f)
{
	if (f->run_open)
		run_free(&f->run);
	facts_free(&f->facts);
	source_facts_free(&f->source);
	env_free(&f->env);
	summary_free(f->told);
	told_free(&f->stretches);
}
