// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/env.h"

#include <stdlib.h>

#include "procfs/reading.h"

struct env env_blank(void)
{
	return (struct env){ .load_start = { UNKNOWN, UNKNOWN, UNKNOWN },
			     .load_end = { UNKNOWN, UNKNOWN, UNKNOWN },
			     .steal_ns = UNKNOWN,
			     .sched_priority = UNKNOWN,
			     .cpus = UNKNOWN,
			     .affinity_cpus = UNKNOWN,
			     .memory_bytes = UNKNOWN,
			     .page_size = UNKNOWN,
			     .clock_ticks = UNKNOWN,
			     .cgroup = { UNKNOWN, UNKNOWN, UNKNOWN },
			     .psi_cpu = { UNKNOWN, UNKNOWN },
			     .psi_memory = { UNKNOWN, UNKNOWN },
			     .psi_io = { UNKNOWN, UNKNOWN } };
}

void env_free(struct env *e)
{
	char *const texts[] = { e->source,   e->host,         e->kernel,      e->machine,
				e->governor, e->work_fs_type, e->sched_class, e->cpu_model,
				e->thp,      e->container,    e->boot_id };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	*e = env_blank();
}

bool psi_known(const struct env *e)
{
	const struct psi *const all[] = { &e->psi_cpu, &e->psi_memory, &e->psi_io };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->some_ns >= 0 || all[i]->full_ns >= 0)
			return true;
	return false;
}
