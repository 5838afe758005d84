// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * energy_files - counters that are files: powercap zones and hwmon sensors
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/energy_find.h"
#include "host/text.h"
#include "procfs/power.h"
#include "procfs/system.h"

#define TEXT_CAP   256
#define PATH_CAP   1024
#define HWMON_MOST 512 /* inputs of one device */

void energy_add_none(struct energy_domains *all, enum energy_source source, int err,
		     const char *reason)
{
	struct energy_domain d = { .source = source, .err = err };

	snprintf(d.reason, sizeof(d.reason), "%s", reason);
	energy_add(all, &d);
}

/* A name too long for it is none that is there. */
__attribute__((format(printf, 2, 3))) static void path_of(char path[PATH_CAP], const char *format,
							  ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(path, PATH_CAP, format, ap);
	va_end(ap);
}

static int number_of(const char *path, int64_t *ret)
{
	char text[TEXT_CAP];
	ssize_t n = text_read(path, text, sizeof(text));

	return n < 0 ? (int)n : number_parse(text, (size_t)n, ret);
}

static int read_number(void *ctx, uint64_t *ret_uj)
{
	int64_t v;
	int err = number_of(ctx, &v);

	if (!err)
		*ret_uj = (uint64_t)v;
	return err;
}

void energy_add_file(struct energy_domains *all, const struct energy_domain *d, const char *path)
{
	struct energy_domain file = *d;

	file.read = read_number;
	file.close = free;
	file.ctx = strdup(path);
	if (!file.ctx)
		file.err = -ENOMEM;
	energy_add(all, &file);
}

/* Who may read it is decided when it is opened. */
static void say_denied(struct energy_domain *d, const char *path, const char *folder)
{
	int64_t v;
	int err = number_of(path, &v);

	if (err == -EACCES || err == -EPERM)
		snprintf(d->reason, sizeof(d->reason),
			 "only root may read it, or whom chmod o+r %.80s allows", folder);
}

static char *name_of(const char *path)
{
	char text[TEXT_CAP];
	ssize_t n = text_read(path, text, sizeof(text));

	return n > 0 ? power_name_parse(text, (size_t)n) : NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
	return *d->d_name != '.';
}

/* --- powercap ------------------------------------------------------------------------------ */

/* The zone that "intel-rapl:0:1" is in is "intel-rapl:0"; false: it is at the top. */
static bool zone_above(const char *zone, char *ret, size_t cap)
{
	const char *first = strchr(zone, ':'), *last = strrchr(zone, ':');

	if (!first || first == last)
		return false;
	snprintf(ret, cap, "%.*s", (int)(last - zone), zone);
	return true;
}

static bool there(const struct energy_domains *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].source == ENERGY_RAPL && all->at[i].name &&
		    !strcmp(all->at[i].name, name))
			return true;
	return false;
}

/* "package-0", or "package-0/core"; owned by the caller, NULL: it has no name. */
static char *domain_of(const char *folder, const char *zone, struct power_zone *ret)
{
	char path[PATH_CAP], above[256], *name, *parent = NULL, *domain = NULL;
	bool top = !zone_above(zone, above, sizeof(above));

	path_of(path, "%s/%s/name", folder, zone);
	name = name_of(path);
	if (!name)
		return NULL;
	*ret = power_zone_of(name, top);
	if (top)
		return name;
	path_of(path, "%s/%s/name", folder, above);
	parent = name_of(path);
	if (asprintf(&domain, "%s/%s", parent ? parent : above, name) < 0)
		domain = NULL;
	free(parent);
	free(name);
	return domain;
}

/* The same counters once more, by another way. */
static bool is_copy(const char *zone)
{
	return strstr(zone, "-mmio:");
}

static void add_zone(struct energy_domains *all, const char *folder, const char *zone)
{
	struct energy_domain d = { .source = ENERGY_RAPL };
	struct power_zone z;
	char path[PATH_CAP];
	int64_t range;

	path_of(path, "%s/%s/energy_uj", folder, zone);
	/* Control types and zones that only limit have none. */
	if (text_read(path, NULL, 0) == -ENOENT)
		return;
	d.name = domain_of(folder, zone, &z);
	if (!d.name || there(all, d.name)) {
		free(d.name);
		return;
	}
	d.covers = z.covers;
	d.part = z.part;
	say_denied(&d, path, path);
	path_of(path, "%s/%s/max_energy_range_uj", folder, zone);
	if (!number_of(path, &range))
		d.range_uj = (uint64_t)range;
	path_of(path, "%s/%s/energy_uj", folder, zone);
	energy_add_file(all, &d, path);
}

void energy_find_rapl(struct energy_domains *all, const char *root)
{
	struct dirent **zones;
	char folder[PATH_CAP];
	size_t before = all->n;
	int n;

	path_of(folder, "%s/class/powercap", root);
	n = scandir(folder, &zones, no_dots, by_name);
	for (int i = 0; i < n; i++)
		if (!is_copy(zones[i]->d_name))
			add_zone(all, folder, zones[i]->d_name);
	for (int i = 0; i < n; i++) {
		if (is_copy(zones[i]->d_name))
			add_zone(all, folder, zones[i]->d_name);
		free(zones[i]);
	}
	if (n >= 0)
		free(zones);
	if (all->n == before)
		energy_add_none(all, ENERGY_RAPL, -ENOENT, "no powercap zone here counts energy");
}

/* --- hwmon --------------------------------------------------------------------------------- */

/* Counters of single cores are narrower than what runs on any of them. */
static bool of_one_core(const char *label)
{
	return !strncmp(label, "Ecore", 5);
}

static void add_input(struct energy_domains *all, const char *device, const char *driver, int i)
{
	struct energy_domain d = { .source = ENERGY_HWMON,
				   .covers = "as the driver and the label say: all processes" };
	char path[PATH_CAP], *label, plain[32];

	path_of(path, "%s/energy%d_input", device, i);
	if (text_read(path, NULL, 0) == -ENOENT)
		return;
	snprintf(plain, sizeof(plain), "energy%d", i);
	path_of(path, "%s/energy%d_label", device, i);
	label = name_of(path);
	d.part = label && of_one_core(label);
	if (asprintf(&d.name, "%s/%s", driver, label ? label : plain) < 0)
		d.name = NULL;
	free(label);
	if (!d.name)
		return;
	path_of(path, "%s/energy%d_input", device, i);
	say_denied(&d, path, path);
	energy_add_file(all, &d, path);
}

void energy_find_hwmon(struct energy_domains *all, const char *root)
{
	struct dirent **devices;
	char folder[PATH_CAP], path[PATH_CAP], *driver;
	size_t before = all->n;
	int n;

	path_of(folder, "%s/class/hwmon", root);
	n = scandir(folder, &devices, no_dots, by_name);
	for (int i = 0; i < n; i++) {
		path_of(path, "%s/%s/name", folder, devices[i]->d_name);
		driver = name_of(path);
		path_of(path, "%s/%s", folder, devices[i]->d_name);
		for (int k = 1; k <= HWMON_MOST; k++)
			add_input(all, path, driver ? driver : devices[i]->d_name, k);
		free(driver);
		free(devices[i]);
	}
	if (n >= 0)
		free(devices);
	if (all->n == before)
		energy_add_none(all, ENERGY_HWMON, -ENOENT, "no hwmon sensor here counts energy");
}
