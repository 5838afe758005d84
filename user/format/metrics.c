// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "format/metrics_labels.h"

const struct metric_family metric_families[METRICS] = {
	[METRIC_INFO] = { "exitmeter_run", TYPE_INFO, NULL, "A metered run: what ran, and where." },
	[METRIC_PEAK] = { "exitmeter_run_peak_rss_bytes", TYPE_GAUGE, "bytes",
			  "Peak resident memory of the run's processes: bounds of the tree's "
			  "(lower, upper), the largest process, the sum of all peaks, the sampled "
			  "PSS, the cgroup's." },
	[METRIC_CPU] = { "exitmeter_run_cpu_seconds", TYPE_COUNTER, "seconds",
			 "CPU time of all processes of the run." },
	[METRIC_PEAK_CPUS] = { "exitmeter_run_peak_cpus", TYPE_GAUGE, NULL,
			       "Most cores that the run kept busy between two samples." },
	[METRIC_DURATION] = { "exitmeter_run_duration_seconds", TYPE_GAUGE, "seconds",
			      "Wall time of the run." },
	[METRIC_START] = { "exitmeter_run_start_time_seconds", TYPE_GAUGE, "seconds",
			   "When the run began, since the epoch." },
	[METRIC_EXIT_STATUS] = { "exitmeter_run_exit_status", TYPE_GAUGE, NULL,
				 "Exit status of the command, 128 and the number after a signal." },
	[METRIC_PROCESSES] = { "exitmeter_run_processes", TYPE_COUNTER, NULL,
			       "Processes that the run had in all." },
	[METRIC_FOREIGN] = { "exitmeter_run_foreign_cores", TYPE_GAUGE, NULL,
			     "Cores that others kept busy during the run; a little below 0 where "
			     "the "
			     "machine's coarse counter trails." },
	[METRIC_COTENANT] = { "exitmeter_run_cotenant", TYPE_GAUGE, NULL,
			      "1 where others' work took a core or more, 0 where the host was "
			      "quiet." },
	[METRIC_EXACT] = { "exitmeter_run_exact", TYPE_GAUGE, NULL,
			   "1 where every process's end was seen and nothing was lost." },
	[METRIC_LOST] = { "exitmeter_events_lost", TYPE_COUNTER, NULL,
			  "Exit records that were lost." },
	[METRIC_ENERGY] = { "exitmeter_energy_joules", TYPE_COUNTER, "joules",
			    "What a counter of the machine came to over the run's time, "
			    "everybody's energy." },
	[METRIC_TREE_RSS] = { "exitmeter_tree_resident_memory_bytes", TYPE_GAUGE, "bytes",
			      "Resident memory of the run's processes, the most since the sample "
			      "before." },
	[METRIC_TREE_CPU] = { "exitmeter_tree_cpu_seconds", TYPE_COUNTER, "seconds",
			      "CPU time of the run's processes so far, those that ended "
			      "included." },
	[METRIC_TREE_CPUS] = { "exitmeter_tree_cpus", TYPE_GAUGE, NULL,
			       "Cores that the run kept busy, the most since the mark before." },
	[METRIC_TREE_PROCESSES] = { "exitmeter_tree_processes", TYPE_GAUGE, NULL,
				    "Processes of the run that live." },
	[METRIC_SELF_CPU] = { "process_cpu_seconds", TYPE_COUNTER, "seconds",
			      "CPU time of exitmeter itself." },
	[METRIC_SELF_RSS] = { "process_resident_memory_bytes", TYPE_GAUGE, "bytes",
			      "Resident memory of exitmeter itself." },
	[METRIC_SELF_VM] = { "process_virtual_memory_bytes", TYPE_GAUGE, "bytes",
			     "Virtual memory of exitmeter itself." },
	[METRIC_SELF_FDS] = { "process_open_fds", TYPE_GAUGE, NULL,
			      "Descriptors that exitmeter itself has open." },
	[METRIC_SELF_MAX_FDS] = { "process_max_fds", TYPE_GAUGE, NULL,
				  "Descriptors that exitmeter itself may have open." },
	[METRIC_SELF_START] = { "process_start_time_seconds", TYPE_GAUGE, "seconds",
				"When exitmeter itself began, since the epoch." },
};

/* --- points
 * --------------------------------------------------------------------------------------- */

struct point *series_add(struct series *s, enum metric metric)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 32;
		struct point *more = reallocarray(s->points, cap, sizeof(*more));

		if (!more)
			return NULL;
		s->points = more;
		s->cap = cap;
	}
	s->points[s->n] = (struct point){ .metric = metric, .at_ms = s->at_ms };
	return &s->points[s->n++];
}

void point_text(const struct point *p, char *buf, size_t cap)
{
	char text[EM_NUMBER_MAX];

	if (p->whole) {
		snprintf(buf, cap, "%" PRId64, p->count);
		return;
	}
	em_double_text(p->value, text);
	snprintf(buf, cap, "%s", text);
}

/* --- series -------------------------------------------------------------------------------- */

static void series_free(struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->points[i].word);
	free(s->points);
	free(s->labels);
	free(s->kernel);
}

void metrics_init(struct metrics *m, bool backfill)
{
	*m = (struct metrics){ .backfill = backfill };
}

void metrics_free(struct metrics *m)
{
	for (size_t i = 0; i < m->n; i++)
		series_free(&m->all[i]);
	free(m->all);
	*m = (struct metrics){ 0 };
}

int series_begin(const struct metrics *m, const struct run_facts *run, const struct env *env,
		 bool live, struct series *ret)
{
	*ret = (struct series){ .labels = labels_of_run(run, m->backfill),
				.kernel = env->kernel ? label_escape(env->kernel) : NULL,
				.started_at_ns = run->started_at_ns,
				.live = live,
				.at_ms = NO_TIME };
	return ret->labels && (ret->kernel || !env->kernel) ? 0 : -ENOMEM;
}

/* Takes it, in the place of an older one of the same name. */
static int series_keep(struct metrics *m, struct series *s)
{
	struct series *more;

	for (size_t i = 0; i < m->n; i++) {
		struct series *other = &m->all[i], older = *s;

		if (other->live != s->live || strcmp(other->labels, s->labels) != 0)
			continue;
		if (s->started_at_ns >= other->started_at_ns) {
			older = *other;
			*other = *s;
		}
		series_free(&older);
		return 0;
	}
	more = reallocarray(m->all, m->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->all = more;
	m->all[m->n++] = *s;
	return 0;
}

int series_end(struct metrics *m, struct series *s, int err)
{
	if (!err)
		err = series_keep(m, s);
	if (err)
		series_free(s);
	return err;
}

static bool alike(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool metrics_info_again(const struct metrics *m, const struct series *of)
{
	for (const struct series *s = m->all; s < of; s++)
		if (!strcmp(s->labels, of->labels) && alike(s->kernel, of->kernel))
			return true;
	return false;
}
