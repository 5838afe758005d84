// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/summary.h"

#include <stdlib.h>

void facts_free(struct run_facts *f)
{
	for (size_t i = 0; i < f->n_labels; i++) {
		free(f->labels[i].key);
		free(f->labels[i].value);
	}
	free(f->labels);
	for (char **arg = f->command; arg && *arg; arg++)
		free(*arg);
	free(f->command);
	free(f->id);
	free(f->mode);
	free(f->cwd);
	free(f->exe_path);
	free(f->exe_build_id);
	*f = (struct run_facts){ 0 };
}

void source_facts_free(struct source_facts *f)
{
	free(f->exits);
	free(f->hook);
	free(f->fallback_reason);
	free(f->tree);
	free(f->samples);
	texts_free(&f->notes);
}

struct summary *summary_new(void)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->run = (struct run_facts){ .pid = EM_NONE,
				     .exe_size_bytes = EM_NONE,
				     .exe_mtime_ns = EM_NONE,
				     .exe_inode = EM_NONE,
				     .started_at_ns = EM_NONE,
				     .wall_ns = EM_NONE,
				     .exit_code = EM_NONE,
				     .exit_signal = EM_NONE,
				     .core_dumped = EM_NONE,
				     .oom_killed = EM_NONE };
	s->source.interval_ns = EM_NONE;
	s->source.self_cpu_ns = s->source.self_peak_rss_bytes = EM_NONE;
	s->completeness = (struct completeness){ .initial = EM_NONE,
						 .forks = EM_NONE,
						 .exits = EM_NONE,
						 .running_at_end = EM_NONE,
						 .events_lost = EM_NONE,
						 .records_repaired = EM_NONE };
	s->usage = (struct usage){
		.peak_lower_bytes = EM_NONE,
		.peak_upper_bytes = EM_NONE,
		.peak_at_ns = TIME_NONE,
		.peak_process_bytes = EM_NONE,
		.peak_sum_bytes = EM_NONE,
		.peak_pss_bytes = EM_NONE,
		.cgroup_peak_bytes = EM_NONE,
		.split = { EM_NONE, EM_NONE, EM_NONE, EM_NONE, EM_NONE },
		.cpu_ns = EM_NONE,
		.cpu_user_ns = EM_NONE,
		.cpu_system_ns = EM_NONE,
		.peak_cpus = EM_NONE,
		.mean_cpus = EM_NONE,
		.max_processes = EM_NONE,
		.total_processes = EM_NONE,
		.max_threads = EM_NONE,
		.voluntary_switches = EM_NONE,
		.involuntary_switches = EM_NONE,
		.minor_faults = EM_NONE,
		.major_faults = EM_NONE,
		.io = { EM_NONE, EM_NONE, EM_NONE, EM_NONE, EM_NONE, EM_NONE, EM_NONE },
	};
	s->rusage = (struct rusage_facts){ EM_NONE, EM_NONE, EM_NONE };
	s->aged_at_ns = EM_NONE;
	return s;
}

void summary_free(struct summary *s)
{
	if (!s)
		return;
	facts_free(&s->run);
	source_facts_free(&s->source);
	texts_free(&s->completeness.reasons);
	free(s->usage.io_source);
	for (size_t i = 0; i < s->n_rows; i++)
		process_unref(s->rows[i]);
	free(s->rows);
	free(s);
}
