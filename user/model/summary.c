// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/summary.h"

#include <stdlib.h>

struct run_facts facts_blank(void)
{
	return (struct run_facts){ .pid = UNKNOWN,
				   .exe_size_bytes = UNKNOWN,
				   .exe_mtime_ns = UNKNOWN,
				   .exe_inode = UNKNOWN,
				   .started_at_ns = UNKNOWN,
				   .wall_ns = UNKNOWN,
				   .exit_code = UNKNOWN,
				   .exit_signal = UNKNOWN,
				   .core_dumped = UNKNOWN,
				   .oom_killed = UNKNOWN,
				   .repeat = UNKNOWN,
				   .repeats = UNKNOWN };
}

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
	free(f->via);
	free(f->hook);
	free(f->fallback_reason);
	free(f->tree);
	free(f->samples);
	texts_free(&f->notes);
}

void disks_free(struct disk *disks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(disks[i].path);
	free(disks);
}

struct left_out left_out_blank(void)
{
	return (struct left_out){ .from_ns = TIME_NONE };
}

struct summary *summary_new(void)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->run = facts_blank();
	s->left_out = left_out_blank();
	s->source.interval_ns = UNKNOWN;
	s->source.self_cpu_ns = s->source.self_peak_rss_bytes = UNKNOWN;
	s->source.stops = s->source.stopped_ns = UNKNOWN;
	s->source.pss_readings = s->source.pss_ns = s->source.pss_longest_ns = UNKNOWN;
	s->completeness = (struct completeness){ .initial = UNKNOWN,
						 .forks = UNKNOWN,
						 .exits = UNKNOWN,
						 .running_at_end = UNKNOWN,
						 .events_lost = UNKNOWN,
						 .records_repaired = UNKNOWN };
	s->usage = (struct usage){
		.peak_lower_bytes = UNKNOWN,
		.peak_upper_bytes = UNKNOWN,
		.peak_at_ns = TIME_NONE,
		.peak_process_bytes = UNKNOWN,
		.peak_sum_bytes = UNKNOWN,
		.peak_pss_bytes = UNKNOWN,
		.cgroup_peak_bytes = UNKNOWN,
		.split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
		.cpu_ns = UNKNOWN,
		.cpu_user_ns = UNKNOWN,
		.cpu_system_ns = UNKNOWN,
		.peak_cpus = UNKNOWN,
		.mean_cpus = UNKNOWN,
		.baseline_cpu_ns = UNKNOWN,
		.max_processes = UNKNOWN,
		.total_processes = UNKNOWN,
		.max_threads = UNKNOWN,
		.voluntary_switches = UNKNOWN,
		.involuntary_switches = UNKNOWN,
		.minor_faults = UNKNOWN,
		.major_faults = UNKNOWN,
		.io = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
	};
	s->rusage = (struct rusage_facts){ UNKNOWN, UNKNOWN, UNKNOWN };
	s->aged_at_ns = UNKNOWN;
	s->host_load = host_load_blank();
	s->budget = budget_result_blank();
	s->env = env_blank();
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
	process_unref(s->root);
	stretches_free(&s->phases);
	stretches_free(&s->attempts);
	host_load_free(&s->host_load);
	env_free(&s->env);
	energies_free(s->energies, s->n_energies);
	disks_free(s->disks, s->n_disks);
	free(s);
}
