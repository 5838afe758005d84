// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/asked.h"

void asked_prepare(struct asked *a, const struct config *c, pid_t child)
{
	enum energy_source choice;

	if (c->cgroup && child)
		cgroup_own_open(&a->cgroup, child);
	if (c->energy && energy_source_parse(c->energy, &choice))
		energy_run_open(&a->energy, choice);
}

void asked_start(struct asked *a, int64_t now_ns)
{
	if (a->energy.on)
		energy_run_start(&a->energy, now_ns);
}

void asked_stop(struct asked *a, int64_t now_ns)
{
	if (a->energy.on)
		energy_run_end(&a->energy, now_ns);
}

void asked_end(struct asked *a, struct run *run)
{
	a->use = cgroup_own_read(&a->cgroup);
	if (a->use.oom_kills > 0)
		run->oom_killed = 1;
	else if (!a->use.oom_kills && run->oom_killed < 0)
		run->oom_killed = 0;
}

static void fill_pss(const struct pss *p, struct summary *s)
{
	const char *why = pss_reason(p);

	s->usage.peak_pss_bytes = p->peak_bytes;
	if (p->wanted) {
		s->source.pss_readings = p->readings;
		s->source.pss_ns = p->spent_ns;
		s->source.pss_longest_ns = p->longest_ns;
	}
	if (why && p->peak_bytes < 0)
		texts_add(&s->source.notes, "pss: %s", why);
	else if (why)
		texts_add(&s->source.notes, "pss: %lld of %lld looks failed: %s",
			  (long long)p->failed, (long long)p->readings, why);
}

static void fill_cgroup(const struct asked *a, struct summary *s)
{
	s->usage.cgroup_peak_bytes = a->use.peak_bytes;
	if (*a->cgroup.reason)
		texts_add(&s->source.notes, "cgroup: %s", a->cgroup.reason);
	if (a->use.oom_kills > 0)
		texts_add(&s->source.notes,
			  "cgroup: processes of it that the OOM killer ended: %lld",
			  (long long)a->use.oom_kills);
}

int asked_fill(const struct asked *a, const struct pss *p, struct summary *s)
{
	fill_pss(p, s);
	fill_cgroup(a, s);
	return a->energy.on ? energy_run_tell(&a->energy, &s->energies, &s->n_energies) : 0;
}

void asked_close(struct asked *a)
{
	cgroup_own_close(&a->cgroup);
	energy_run_close(&a->energy);
}
