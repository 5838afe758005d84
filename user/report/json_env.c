// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_env.h"

#include "report/fields.h"
#include "report/json_fields.h"

static void write_load(struct json *j, const char *key, const double load[LOADS])
{
	json_key(j, key);
	if (load[0] < 0) {
		json_null(j);
		return;
	}
	json_array(j);
	for (int i = 0; i < LOADS; i++)
		json_double(j, load[i]);
	json_array_end(j);
}

void json_psi(struct json *j, const struct env *e)
{
	if (!psi_known(e)) {
		json_null(j);
		return;
	}
	json_open(j);
	json_fields_object(j, "cpu", &e->psi_cpu, &psi_fields);
	json_fields_object(j, "memory", &e->psi_memory, &psi_fields);
	json_fields_object(j, "io", &e->psi_io, &psi_fields);
	json_close(j);
}

void json_env(struct json *j, const struct env *e)
{
	json_open(j);
	json_fields(j, e, &env_head_fields);
	write_load(j, "load_start", e->load_start);
	write_load(j, "load_end", e->load_end);
	json_fields(j, e, &env_middle_fields);
	json_fields_object(j, "cgroup", &e->cgroup, &env_cgroup_fields);
	json_fields(j, e, &env_thp_fields);
	json_key(j, "psi");
	json_psi(j, e);
	json_fields(j, e, &env_tail_fields);
	json_close(j);
}
