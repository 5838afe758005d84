// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cpu.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "host/text.h"
#include "procfs/system.h"

#define POLICIES      "/sys/devices/system/cpu/cpufreq"
#define GOVERNORS_MAX 16

/* --- the model ----------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
#define NAME_LEAF 0x80000002u

/*
 * What /proc/cpuinfo has as well; but up to 5.17 that is made with a wait of 10 ms for each
 * processor's frequency (arch/x86/kernel/cpu/aperfmperf.c).
 */
static char *brand(void)
{
	unsigned int r[12];
	char name[sizeof(r) + 1], *start = name;
	size_t len;

	if (__get_cpuid_max(NAME_LEAF & 0x80000000u, NULL) < NAME_LEAF + 2)
		return NULL;
	for (unsigned int i = 0; i < 3; i++)
		__cpuid(NAME_LEAF + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
	memcpy(name, r, sizeof(r));
	name[sizeof(r)] = '\0';
	while (*start == ' ')
		start++;
	len = strlen(start);
	while (len && start[len - 1] == ' ')
		start[--len] = '\0';
	return len ? strdup(start) : NULL;
}
#else
static char *brand(void)
{
	return NULL;
}
#endif

char *cpu_model(void)
{
	char text[4096], *name = brand();
	ssize_t n = name ? 0 : text_read("/proc/cpuinfo", text, sizeof(text));

	return n > 0 ? cpu_model_parse(text, (size_t)n) : name;
}

/* --- the governor -------------------------------------------------------------------------- */

struct governor {
	char *name;
	long cpus;
};

struct governors {
	struct governor at[GOVERNORS_MAX];
	size_t n;
};

/* How many processors a policy is for: "0 1 2 3". */
static long cpus_of(const char *policy)
{
	char path[320], text[8192];
	long n = 0;
	ssize_t len;

	snprintf(path, sizeof(path), POLICIES "/%s/affected_cpus", policy);
	len = text_read(path, text, sizeof(text));
	for (ssize_t i = 0; i < len; i++)
		n += text[i] >= '0' && text[i] <= '9' &&
		     (i + 1 == len || text[i + 1] < '0' || text[i + 1] > '9');
	return n;
}

static char *governor_of(const char *policy)
{
	char path[320], text[256];
	ssize_t len;

	snprintf(path, sizeof(path), POLICIES "/%s/scaling_governor", policy);
	len = text_read(path, text, sizeof(text));
	return len > 0 ? word_parse(text, (size_t)len) : NULL;
}

static void add(struct governors *g, char *name, long cpus)
{
	size_t i = 0;

	if (!name)
		return;
	while (i < g->n && strcmp(g->at[i].name, name) != 0)
		i++;
	if (i == GOVERNORS_MAX) {
		free(name);
	} else if (i < g->n) {
		g->at[i].cpus += cpus;
		free(name);
	} else {
		g->at[g->n++] = (struct governor){ name, cpus };
	}
}

/* One policy is for all processors that change together.  @count: how many those are. */
static void collect(struct governors *g, bool count)
{
	DIR *dir = opendir(POLICIES);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, "policy", 6))
			add(g, governor_of(d->d_name), count ? cpus_of(d->d_name) : 1);
	if (dir)
		closedir(dir);
}

static void clear(struct governors *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->at[i].name);
	g->n = 0;
}

static int by_count(const void *a, const void *b)
{
	const struct governor *x = a, *y = b;

	if (x->cpus != y->cpus)
		return x->cpus < y->cpus ? 1 : -1;
	return strcmp(x->name, y->name);
}

static char *counts(struct governors *g)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	qsort(g->at, g->n, sizeof(g->at[0]), by_count);
	for (size_t i = 0; i < g->n; i++)
		fprintf(f, "%s%s %ld", i ? ", " : "", g->at[i].name, g->at[i].cpus);
	fclose(f);
	return text;
}

char *cpu_governor(void)
{
	struct governors g = { .n = 0 };
	char *name = NULL;

	collect(&g, false);
	if (g.n == 1) {
		name = strdup(g.at[0].name);
	} else if (g.n > 1) {
		clear(&g);
		collect(&g, true);
		name = counts(&g);
	}
	clear(&g);
	return name;
}
