// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/read_env.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define DISKS_MAX    4096
#define ENERGIES_MAX 4096

static int read_load(json_object *o, const char *key, double load[LOADS], struct why *why)
{
	json_object *list;
	int err = value_child(o, key, json_type_array, &list, why);
	double all[LOADS];

	if (err || !list)
		return err;
	if (json_object_array_length(list) != LOADS)
		return why_set(why, "%s is not %d numbers", key, LOADS);
	for (int i = 0; i < LOADS; i++) {
		json_object *v = json_object_array_get_idx(list, (size_t)i);

		if (!json_object_is_type(v, json_type_int) &&
		    !json_object_is_type(v, json_type_double))
			return why_set(why, "%s is not %d numbers", key, LOADS);
		all[i] = json_object_get_double(v);
		if (!isfinite(all[i]) || all[i] < 0)
			return why_set(why, "%s holds what is no load", key);
	}
	for (int i = 0; i < LOADS; i++)
		load[i] = all[i];
	return 0;
}

static int read_psi(json_object *o, struct env *e, struct why *why)
{
	json_object *psi;
	int err = value_child(o, "psi", json_type_object, &psi, why);

	if (err || !psi)
		return err;
	err = value_object(psi, "cpu", &e->psi_cpu, &psi_fields, why);
	if (!err)
		err = value_object(psi, "memory", &e->psi_memory, &psi_fields, why);
	if (!err)
		err = value_object(psi, "io", &e->psi_io, &psi_fields, why);
	return err;
}

int values_env(json_object *o, struct env *e, struct why *why)
{
	int err = value_fields(o, e, &env_head_fields, why);

	if (!err)
		err = read_load(o, "load_start", e->load_start, why);
	if (!err)
		err = read_load(o, "load_end", e->load_end, why);
	if (!err)
		err = value_fields(o, e, &env_middle_fields, why);
	if (!err)
		err = value_object(o, "cgroup", &e->cgroup, &env_cgroup_fields, why);
	if (!err)
		err = value_fields(o, e, &env_thp_fields, why);
	if (!err)
		err = read_psi(o, e, why);
	if (!err)
		err = value_fields(o, e, &env_tail_fields, why);
	return err;
}

int values_host_load(json_object *o, struct host_load *h, struct why *why)
{
	json_object *load, *worst;
	int err = value_child(o, "host_load", json_type_object, &load, why);

	if (err || !load)
		return err;
	err = value_fields(load, h, &host_load_fields, why);
	if (!err)
		err = value_child(load, "worst_window", json_type_object, &worst, why);
	if (!err && worst)
		err = value_fields(worst, &h->worst, &load_window_fields, why);
	if (!err && worst && h->worst.span_ns <= 0)
		return why_set(why, "worst_window has no length");
	return err;
}

int values_sample_load(json_object *o, struct load_watch *w, struct why *why)
{
	struct load_sample s = { TIME_NONE, UNKNOWN, UNKNOWN, UNKNOWN, NAN };
	json_object *host;
	int err = value_child(o, "host_load", json_type_object, &host, why);

	if (err || !host)
		return err;
	err = value_fields(host, &s, &load_sample_fields, why);
	if (!err && s.at_ns == TIME_NONE)
		return why_set(why, "host_load without at");
	if (!err)
		load_on_sample(w, &s);
	return err;
}

int values_energies(json_object *o, struct summary *s, struct why *why)
{
	json_object *list;
	size_t n;
	int err = value_child(o, "energy", json_type_array, &list, why);

	if (err || !list)
		return err;
	n = json_object_array_length(list);
	if (n > ENERGIES_MAX)
		return why_set(why, "energy is too long");
	s->energies = calloc(n + 1, sizeof(*s->energies));
	if (!s->energies)
		return -ENOMEM;
	while (!err && s->n_energies < n) {
		json_object *one = json_object_array_get_idx(list, s->n_energies);
		struct energy *e = &s->energies[s->n_energies++];

		*e = energy_blank();
		if (!json_object_is_type(one, json_type_object))
			return why_set(why, "energy holds what is no object");
		err = value_fields(one, e, &energy_fields, why);
	}
	return err;
}

int values_disks(json_object *o, struct summary *s, struct why *why)
{
	json_object *list;
	size_t n;
	int err = value_child(o, "disk", json_type_array, &list, why);

	if (err || !list)
		return err;
	n = json_object_array_length(list);
	if (n > DISKS_MAX)
		return why_set(why, "disk is too long");
	s->disks = calloc(n + 1, sizeof(*s->disks));
	if (!s->disks)
		return -ENOMEM;
	while (!err && s->n_disks < n) {
		json_object *one = json_object_array_get_idx(list, s->n_disks);
		struct disk *d = &s->disks[s->n_disks++];

		*d = (struct disk){ NULL, UNKNOWN, UNKNOWN };
		if (!json_object_is_type(one, json_type_object))
			return why_set(why, "disk holds what is no object");
		err = value_fields(one, d, &disk_fields, why);
	}
	return err;
}

int values_start(json_object *o, struct summary *s, struct why *why)
{
	json_object *run, *source, *env = NULL;
	int err;

	if (!json_object_object_get_ex(o, "run", &run) ||
	    !json_object_is_type(run, json_type_object) ||
	    !json_object_object_get_ex(o, "source", &source) ||
	    !json_object_is_type(source, json_type_object))
		return why_set(why, "a run_start without run or source");
	err = values_run(run, &s->run, why);
	if (!err)
		err = values_source(source, &s->source, why);
	if (!err)
		err = value_child(o, "env", json_type_object, &env, why);
	return err || !env ? err : values_env(env, &s->env, why);
}

struct sample_values sample_values_blank(void)
{
	return (struct sample_values){
		UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
	};
}

int values_sample(json_object *o, struct sample_values *ret, struct why *why)
{
	struct sample_values s = sample_values_blank();
	json_object *cpu;
	int err = value_int(o, "rss_bytes", &s.rss_bytes, why);

	if (!err)
		err = value_int(o, "processes", &s.processes, why);
	if (!err)
		err = value_int(o, "threads", &s.threads, why);
	if (!err)
		err = value_int(o, "lower_bytes", &s.lower_bytes, why);
	if (!err)
		err = value_int(o, "upper_bytes", &s.upper_bytes, why);
	if (!err)
		err = value_int(o, "pss_bytes", &s.pss_bytes, why);
	if (!err && json_object_object_get_ex(o, "cpu_seconds", &cpu)) {
		err = value_ns(cpu, UNKNOWN, &s.cpu_ns);
		if (err == -EBADMSG || (cpu && s.cpu_ns < 0))
			return why_set(why, "cpu_seconds is not seconds or null");
	}
	if (!err)
		*ret = s;
	return err;
}
