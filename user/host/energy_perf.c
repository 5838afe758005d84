// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * energy_perf - the counters of powercap as perf's PMU "power" has them
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/energy_find.h"
#include "host/text.h"
#include "procfs/power.h"
#include "procfs/system.h"

#define PMU       "bus/event_source/devices/power"
#define TEXT_CAP  512
#define CPUS_MOST 64 /* one a socket */
#define JOULE_UJ  1e6
#define DENIED    "it takes CAP_PERFMON, or perf_event_paranoid at 0 or below"
#define NO_PMU    "perf has no PMU \"power\" here"

/* Its event, and the domain that powercap has under that name; NULL: of the package itself. */
static const struct event {
	const char *name, *domain;
	bool top;
} events[] = {
	{ "energy-pkg", NULL, true },      { "energy-psys", "psys", true },
	{ "energy-ram", "dram", false },   { "energy-cores", "core", false },
	{ "energy-gpu", "uncore", false },
};

struct open_event {
	int fd;
	double scale_uj;
};

static ssize_t get(const char *root, const char *below, const char *name, char text[TEXT_CAP])
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s/%s", root, below, name);
	return text_read(path, text, TEXT_CAP);
}

static int read_event(void *ctx, uint64_t *ret_uj)
{
	const struct open_event *e = ctx;
	uint64_t count;
	ssize_t n = read(e->fd, &count, sizeof(count));

	if (n != (ssize_t)sizeof(count))
		return n < 0 ? -errno : -EIO;
	*ret_uj = (uint64_t)((double)count * e->scale_uj);
	return 0;
}

static void close_event(void *ctx)
{
	struct open_event *e = ctx;

	if (e && e->fd >= 0)
		close(e->fd);
	free(e);
}

/* *@ret: opened.  0 or -errno. */
static int open_event(uint32_t type, uint64_t config, double scale, int cpu,
		      struct open_event **ret)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = type, .config = config };
	struct open_event *e = malloc(sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->scale_uj = scale * JOULE_UJ;
	e->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0) {
		int err = -errno;

		free(e);
		return err;
	}
	*ret = e;
	return 0;
}

/* The socket of a processor; 0 where that is not told. */
static int64_t package_of(const char *root, int cpu)
{
	char name[64], text[TEXT_CAP];
	int64_t package = 0;
	ssize_t n;

	snprintf(name, sizeof(name), "cpu%d/topology/physical_package_id", cpu);
	n = get(root, "devices/system/cpu", name, text);
	if (n > 0)
		number_parse(text, (size_t)n, &package);
	return package;
}

static char *domain_name(const struct event *e, int64_t package)
{
	char *name;
	int n;

	if (!e->domain)
		n = asprintf(&name, "package-%lld", (long long)package);
	else if (e->top)
		n = asprintf(&name, "%s", e->domain);
	else
		n = asprintf(&name, "package-%lld/%s", (long long)package, e->domain);
	return n < 0 ? NULL : name;
}

static void add_event(struct energy_domains *all, const char *root, uint32_t type,
		      const struct event *e, uint64_t config, double scale, int cpu)
{
	struct power_zone zone = power_zone_of(e->domain ? e->domain : "package-", e->top);
	struct energy_domain d = { .source = ENERGY_PERF,
				   .name = domain_name(e, package_of(root, cpu)),
				   .covers = zone.covers,
				   .part = zone.part,
				   .read = read_event,
				   .close = close_event };
	struct open_event *opened = NULL;

	if (!d.name)
		return;
	d.err = open_event(type, config, scale, cpu, &opened);
	d.ctx = opened;
	if (d.err == -EACCES || d.err == -EPERM)
		snprintf(d.reason, sizeof(d.reason), "%s", DENIED);
	energy_add(all, &d);
}

/* One a socket, where the PMU has it and the unit is joules. */
static void add_events(struct energy_domains *all, const char *root, uint32_t type,
		       const struct event *e, const int *cpus, size_t n_cpus)
{
	char text[TEXT_CAP], name[64];
	uint64_t config;
	double scale;
	ssize_t n = get(root, PMU "/events", e->name, text);

	if (n <= 0 || power_event_parse(text, (size_t)n, &config))
		return;
	snprintf(name, sizeof(name), "%s.scale", e->name);
	n = get(root, PMU "/events", name, text);
	if (n <= 0 || power_scale_parse(text, (size_t)n, &scale))
		return;
	snprintf(name, sizeof(name), "%s.unit", e->name);
	n = get(root, PMU "/events", name, text);
	if (n < 6 || strncmp(text, "Joules", 6) != 0)
		return;
	for (size_t i = 0; i < n_cpus; i++)
		add_event(all, root, type, e, config, scale, cpus[i]);
}

void energy_find_perf(struct energy_domains *all, const char *root)
{
	char text[TEXT_CAP];
	int cpus[CPUS_MOST];
	size_t n_cpus = 0, before = all->n;
	int64_t type = -1;
	ssize_t n = get(root, PMU, "type", text);

	if (n > 0)
		number_parse(text, (size_t)n, &type);
	n = get(root, PMU, "cpumask", text);
	if (n <= 0 || power_cpus_parse(text, (size_t)n, cpus, CPUS_MOST, &n_cpus))
		n_cpus = 0;
	/* Its events are said in the first eight bits. */
	n = get(root, PMU "/format", "event", text);
	for (size_t i = 0; n > 0 && !strncmp(text, "config:0-7\n", (size_t)n) && type >= 0 &&
			   i < sizeof(events) / sizeof(events[0]);
	     i++)
		add_events(all, root, (uint32_t)type, &events[i], cpus, n_cpus);
	if (all->n == before)
		energy_add_none(all, ENERGY_PERF, -ENOENT, NO_PMU);
}
