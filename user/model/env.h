/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env - what machine a run ran on, and in what state (SPEC 3.4)
 *
 * UNKNOWN and NULL where something could not be read, which is also how the absence of a limit,
 * of a governor and of a container reads.
 */
#ifndef MODEL_ENV_H
#define MODEL_ENV_H

#include <stdbool.h>
#include <stdint.h>

#define LOADS 3 /* over 1, 5 and 15 minutes */

/* Time since boot for which some or all of what could run had to wait. */
struct psi {
	int64_t some_ns, full_ns;
};

struct cgroup_facts {
	int64_t version; /* 1 or 2: of the hierarchy that limits memory or CPU */
	double cpu_limit;
	int64_t memory_limit_bytes;
};

struct env {
	char *source;   /* "proc", "unavailable" */
	char *host;     /* its name */
	char *kernel;   /* its release */
	char *machine;  /* x86_64 */
	char *governor; /* where not all processors have the same: with their numbers */
	double load_start[LOADS], load_end[LOADS];
	int64_t steal_ns;   /* of all processors over the run */
	char *work_fs_type; /* of the file system of the run's folder */
	char *sched_class;  /* of the root as it began */
	int64_t sched_priority, cpus, affinity_cpus;
	char *cpu_model;
	int64_t memory_bytes, page_size, clock_ticks;
	struct cgroup_facts cgroup;
	char *thp;
	struct psi psi_cpu, psi_memory, psi_io; /* when this was read */
	char *container;
	char *boot_id;
};

struct env env_blank(void); /* all unknown */
void env_free(struct env *e);
bool psi_known(const struct env *e);

/* The size of a folder and all in it, when the run had ended (SPEC R-9). */
struct disk {
	char *path;
	int64_t apparent_bytes, allocated_bytes;
};

#endif /* MODEL_ENV_H */
