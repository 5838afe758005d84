// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * metrics_run - which figures a run has, that goes on or has ended
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/metrics.h"
#include "format/metrics_labels.h"
#include "units.h"

#define MICRO     1e6
#define AGE_MAX_S 1e10 /* further away than any run */

static int add_count(struct series *s, enum metric metric, int64_t v, const char *key,
		     const char *word)
{
	struct point *p;

	if (v < 0)
		return 0;
	p = series_add(s, metric);
	if (!p)
		return -ENOMEM;
	p->whole = true;
	p->count = v;
	p->key = key;
	p->word = key ? label_escape(word) : NULL;
	return key && !p->word ? -ENOMEM : 0;
}

/* One that may be below 0; NaN is unknown. */
static int add_signed(struct series *s, enum metric metric, double v)
{
	struct point *p;

	if (!isfinite(v))
		return 0;
	p = series_add(s, metric);
	if (!p)
		return -ENOMEM;
	p->value = v;
	return 0;
}

static int add_value(struct series *s, enum metric metric, double v)
{
	return v < 0 ? 0 : add_signed(s, metric, v);
}

static double seconds(int64_t ns)
{
	return ns < 0 ? UNKNOWN : (double)ns / (double)NS_PER_S;
}

static int add_cpu(struct series *s, int64_t ns, const char *mode)
{
	int err = add_value(s, METRIC_CPU, seconds(ns));

	if (err || ns < 0)
		return err;
	s->points[s->n - 1].key = "mode";
	s->points[s->n - 1].word = strdup(mode);
	return s->points[s->n - 1].word ? 0 : -ENOMEM;
}

/* --- what a run gives ---------------------------------------------------------------------- */

static int add_peaks(struct series *s, const struct usage *u)
{
	const struct {
		const char *kind;
		int64_t bytes;
	} peaks[] = {
		{ "lower", u->peak_lower_bytes },     { "upper", u->peak_upper_bytes },
		{ "process", u->peak_process_bytes }, { "sum", u->peak_sum_bytes },
		{ "pss", u->peak_pss_bytes },         { "cgroup", u->cgroup_peak_bytes },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(peaks) / sizeof(peaks[0]); i++)
		err = add_count(s, METRIC_PEAK, peaks[i].bytes, "kind", peaks[i].kind);
	return err;
}

/* Together they are the whole; where it was not split there is one. */
static int add_cpus(struct series *s, const struct usage *u)
{
	int err;

	if (u->cpu_user_ns < 0 || u->cpu_system_ns < 0)
		return add_cpu(s, u->cpu_ns, "unknown");
	err = add_cpu(s, u->cpu_user_ns, "user");
	return err ? err : add_cpu(s, u->cpu_system_ns, "system");
}

static int add_load(struct series *s, const struct host_load *h)
{
	int err = add_signed(s, METRIC_FOREIGN, h->foreign_cores);

	if (err || h->verdict == EM_HOST_UNAVAILABLE)
		return err;
	return add_count(s, METRIC_COTENANT, h->verdict == EM_HOST_COTENANT, NULL, NULL);
}

static bool has_figure(const struct energy *e)
{
	return e->delta_uj >= 0 && e->quality && e->domain;
}

static bool domain_came_before(const struct energy *e, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (has_figure(&e[k]) && !strcmp(e[k].domain, e[i].domain))
			return true;
	return false;
}

/* What was measured, each by its domain; of two sources of one domain the first. */
static int add_energies(struct series *s, const struct energy *e, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		if (!has_figure(&e[i]) || domain_came_before(e, i))
			continue;
		err = add_value(s, METRIC_ENERGY, (double)e[i].delta_uj / MICRO);
		if (err)
			break;
		s->points[s->n - 1].key = "domain";
		s->points[s->n - 1].word = label_escape(e[i].domain);
		err = s->points[s->n - 1].word ? 0 : -ENOMEM;
	}
	return err;
}

static int64_t status_of(const struct run_facts *run)
{
	return run->exit_signal >= 0 ? 128 + run->exit_signal : run->exit_code;
}

static int add_figures(struct series *s, const struct summary *sum)
{
	const struct usage *u = &sum->usage;
	int err = add_count(s, METRIC_INFO, 1, NULL, NULL);

	if (!err)
		err = add_peaks(s, u);
	if (!err)
		err = add_cpus(s, u);
	if (!err)
		err = add_value(s, METRIC_PEAK_CPUS, u->peak_cpus);
	if (!err)
		err = add_value(s, METRIC_DURATION, seconds(sum->run.wall_ns));
	if (!err)
		err = add_value(s, METRIC_START, seconds(sum->run.started_at_ns));
	if (!err)
		err = add_count(s, METRIC_EXIT_STATUS, status_of(&sum->run), NULL, NULL);
	if (!err)
		err = add_count(s, METRIC_PROCESSES, u->total_processes, NULL, NULL);
	if (!err)
		err = add_load(s, &sum->host_load);
	if (!err)
		err = add_count(s, METRIC_EXACT, sum->completeness.exact, NULL, NULL);
	if (!err)
		err = add_count(s, METRIC_LOST, sum->completeness.events_lost, NULL, NULL);
	if (!err)
		err = add_energies(s, sum->energies, sum->n_energies);
	return err;
}

/* --- marks with their times ---------------------------------------------------------------- */

/*
 * What Prometheus makes of a time written with three decimals: it multiplies by 1000 and cuts off.
 * Two marks that come out the same would be one point twice.
 */
static int64_t time_as_read(int64_t ms)
{
	return (int64_t)((double)ms / 1000 * 1000);
}

/* NO_TIME: not known. */
static int64_t time_of(const struct summary *s, double age_s)
{
	int64_t ms = s->aged_at_ns / NS_PER_MS;

	if (s->aged_at_ns < 0 || !(fabs(age_s) < AGE_MAX_S))
		return NO_TIME;
	ms -= llround(age_s * 1000);
	return ms < 0 ? NO_TIME : ms;
}

static int add_mark(struct series *s, const struct em_mark *m, int64_t at_ms)
{
	int err;

	s->at_ms = at_ms;
	err = add_count(s, METRIC_TREE_RSS, m->rss, NULL, NULL);
	if (!err)
		err = add_value(s, METRIC_TREE_CPU, m->cpu);
	return err ? err : add_value(s, METRIC_TREE_CPUS, m->cpus);
}

/* Those of one time together, as a meter merges them. */
static int add_marks(struct series *s, const struct summary *sum)
{
	struct em_mark now = { 0 };
	int64_t at_ms = NO_TIME;
	int err = 0;

	for (size_t i = 0; !err && i < sum->n_marks; i++) {
		const struct em_mark *m = &sum->marks[i];
		int64_t ms = time_of(sum, m->at);

		if (ms == NO_TIME)
			continue;
		if (at_ms != NO_TIME && time_as_read(ms) <= time_as_read(at_ms)) {
			now.rss = m->rss > now.rss ? m->rss : now.rss;
			now.cpus = m->cpus > now.cpus ? m->cpus : now.cpus;
			now.cpu = m->cpu;
			continue;
		}
		if (at_ms != NO_TIME)
			err = add_mark(s, &now, at_ms);
		now = *m;
		at_ms = ms;
	}
	return err || at_ms == NO_TIME ? err : add_mark(s, &now, at_ms);
}

/* When the run had ended. */
static int64_t end_of(const struct summary *s)
{
	int64_t ns;

	if (s->run.started_at_ns < 0 || s->run.wall_ns < 0 ||
	    __builtin_add_overflow(s->run.started_at_ns, s->run.wall_ns, &ns))
		ns = s->aged_at_ns;
	return ns < 0 ? NO_TIME : ns / NS_PER_MS;
}

int metrics_add_run(struct metrics *m, const struct summary *sum)
{
	struct series s;
	int err = series_begin(m, &sum->run, &sum->env, false, &s);

	if (m->backfill)
		s.at_ms = end_of(sum);
	if (!err)
		err = add_figures(&s, sum);
	if (!err && m->backfill)
		err = add_marks(&s, sum);
	return series_end(m, &s, err);
}

int metrics_add_tree(struct metrics *m, const struct run_facts *run, const struct env *env,
		     const struct tree_now *now)
{
	struct series s;
	int err = series_begin(m, run, env, true, &s);

	if (!err)
		err = add_count(&s, METRIC_INFO, 1, NULL, NULL);
	if (!err)
		err = add_count(&s, METRIC_TREE_RSS, now->rss_bytes, NULL, NULL);
	if (!err)
		err = add_value(&s, METRIC_TREE_CPU, seconds(now->cpu_ns));
	if (!err)
		err = add_value(&s, METRIC_TREE_CPUS, now->cpus);
	if (!err)
		err = add_count(&s, METRIC_TREE_PROCESSES, now->processes, NULL, NULL);
	return series_end(m, &s, err);
}

int metrics_add_self(struct metrics *m, const struct self_now *now)
{
	struct series s = { .labels = strdup(""), .at_ms = NO_TIME };
	int err = s.labels ? 0 : -ENOMEM;

	if (!err)
		err = add_value(&s, METRIC_SELF_CPU, seconds(now->cpu_ns));
	if (!err)
		err = add_count(&s, METRIC_SELF_RSS, now->rss_bytes, NULL, NULL);
	if (!err)
		err = add_count(&s, METRIC_SELF_VM, now->vm_bytes, NULL, NULL);
	if (!err)
		err = add_count(&s, METRIC_SELF_FDS, now->fds, NULL, NULL);
	if (!err)
		err = add_count(&s, METRIC_SELF_MAX_FDS, now->max_fds, NULL, NULL);
	if (!err)
		err = add_value(&s, METRIC_SELF_START, seconds(now->started_at_ns));
	return series_end(m, &s, err);
}
