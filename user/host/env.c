// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/env.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/text.h"
#include "procfs/cgroup.h"
#include "procfs/mountinfo.h"
#include "procfs/reading.h"
#include "procfs/scan.h"
#include "procfs/system.h"
#include "units.h"

#define FILE_MAX  4096
#define CPUS_MOST (1 << 20)

/* --- the root, while it is held ------------------------------------------------------------ */

static const char *class_name(int policy)
{
	static const char *const names[] = { "SCHED_OTHER",    "SCHED_FIFO", "SCHED_RR",
					     "SCHED_BATCH",    NULL,         "SCHED_IDLE",
					     "SCHED_DEADLINE", "SCHED_EXT" };

	policy &= ~SCHED_RESET_ON_FORK;
	return policy >= 0 && (size_t)policy < sizeof(names) / sizeof(names[0]) ? names[policy]
										: NULL;
}

static int64_t affinity_of(pid_t pid)
{
	for (int n = 1024; n <= CPUS_MOST; n *= 4) {
		cpu_set_t *set = CPU_ALLOC((size_t)n);
		size_t size = CPU_ALLOC_SIZE((size_t)n);
		int err = set ? sched_getaffinity(pid, size, set) : -1;
		int64_t cpus = err ? UNKNOWN : CPU_COUNT_S(size, set);
		/* EINVAL: the kernel has more processors than that. */
		bool more = err && set && errno == EINVAL;

		CPU_FREE(set);
		if (!more)
			return cpus;
	}
	return UNKNOWN;
}

void env_read_root(struct env *e, pid_t root)
{
	struct sched_param param;
	int policy = sched_getscheduler(root);
	const char *name = policy < 0 ? NULL : class_name(policy);

	e->sched_class = name ? strdup(name) : NULL;
	if (!sched_getparam(root, &param))
		e->sched_priority = param.sched_priority;
	e->affinity_cpus = affinity_of(root);
}

/* --- single files -------------------------------------------------------------------------- */

static char *word_of(const char *path)
{
	char text[FILE_MAX];
	ssize_t n = text_read(path, text, sizeof(text));

	return n > 0 ? word_parse(text, (size_t)n) : NULL;
}

static void read_load(double load[LOADS])
{
	char text[FILE_MAX];
	ssize_t n = text_read("/proc/loadavg", text, sizeof(text));

	if (n > 0)
		loadavg_parse(text, (size_t)n, load);
}

/* What @parse finds at the beginning of it. */
static int64_t number_of(const char *path, int (*parse)(const char *text, size_t len, int64_t *ret))
{
	char text[FILE_MAX];
	ssize_t n = text_read(path, text, sizeof(text));
	int64_t v = UNKNOWN;

	if (n > 0)
		parse(text, (size_t)n, &v);
	return v;
}

static int64_t steal_ticks(void)
{
	struct cpu_ticks ticks = { UNKNOWN, UNKNOWN };
	char text[FILE_MAX];
	ssize_t n = text_read("/proc/stat", text, sizeof(text));

	if (n > 0)
		cpu_ticks_parse(text, (size_t)n, &ticks);
	return ticks.steal;
}

static char *thp(void)
{
	char text[FILE_MAX];
	ssize_t n = text_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text));

	return n > 0 ? choice_parse(text, (size_t)n) : NULL;
}

static void read_pressure(const char *path, struct psi *ret)
{
	char text[FILE_MAX];
	ssize_t n = text_read(path, text, sizeof(text));

	if (n > 0)
		pressure_parse(text, (size_t)n, &ret->some_ns, &ret->full_ns);
}

static void read_pressures(struct env *e)
{
	read_pressure("/proc/pressure/cpu", &e->psi_cpu);
	read_pressure("/proc/pressure/memory", &e->psi_memory);
	read_pressure("/proc/pressure/io", &e->psi_io);
}

/* "/proc/PID/NAME", or /proc/self's */
static void path_of(const struct env_reading *r, const char *name, char *ret, size_t cap)
{
	if (r->of)
		snprintf(ret, cap, "/proc/%d/%s", (int)r->of, name);
	else
		snprintf(ret, cap, "/proc/self/%s", name);
}

/* --- the file system and the container ----------------------------------------------------- */

static char *fs_type(const char *mounts, size_t len, const char *cwd)
{
	struct mount m;

	return mounts && cwd && mountinfo_find(mounts, len, cwd, &m) ? mountinfo_plain(m.type)
								     : NULL;
}

/* What of container=NAME in the environment of the first process, where we may read that. */
static char *first_environ(const char *root)
{
	static const char key[] = "container=";
	size_t len, at = 0;
	char *text, *name = NULL;

	/* A container's own /proc is what counts, and only ours is at hand. */
	text = *root ? NULL : text_read_all("/proc/1/environ", &len);
	while (text && !name && at < len) {
		size_t n = strnlen(text + at, len - at);

		if (n >= sizeof(key) && !memcmp(text + at, key, sizeof(key) - 1))
			name = word_parse(text + at + sizeof(key) - 1, n - (sizeof(key) - 1));
		at += n + 1;
	}
	free(text);
	return name;
}

static char *container_by_files(const char *root)
{
	char path[128];
	char *name;

	snprintf(path, sizeof(path), "%s/run/.containerenv", root);
	if (!access(path, F_OK))
		return strdup("podman");
	snprintf(path, sizeof(path), "%s/.dockerenv", root);
	if (!access(path, F_OK))
		return strdup("docker");
	snprintf(path, sizeof(path), "%s/run/systemd/container", root);
	name = word_of(path);
	return name ? name : first_environ(root);
}

/* A hint: each kind of container leaves other traces, and some none. */
static char *container(const struct env_reading *r, const char *cgroups, size_t len)
{
	const char *own = r->of ? NULL : getenv("container"), *by_path;
	char root[64] = "";
	char *name;

	if (r->of)
		path_of(r, "root", root, sizeof(root));
	name = container_by_files(root);
	if (!name && own)
		name = word_parse(own, strlen(own));
	by_path = !name && cgroups ? cgroup_container(cgroups, len) : NULL;
	return by_path ? strdup(by_path) : name;
}

/* What the mounts and cgroups of the run tell. */
static void read_places(struct env *e, const struct env_reading *r, const char *cwd)
{
	size_t ours_len = 0, its_len = 0, cgroups_len = 0;
	char *ours = text_read_all("/proc/self/mountinfo", &ours_len), *its = NULL, *cgroups;
	char path[64];

	if (r->of) {
		path_of(r, "mountinfo", path, sizeof(path));
		its = text_read_all(path, &its_len);
		e->work_fs_type = fs_type(its, its_len, cwd);
	} else {
		e->work_fs_type = fs_type(ours, ours_len, cwd);
	}
	path_of(r, "cgroup", path, sizeof(path));
	cgroups = text_read_all(path, &cgroups_len);
	if (cgroups)
		cgroup_read(&e->cgroup, cgroups, cgroups_len, ours, ours_len);
	e->container = container(r, cgroups, cgroups_len);
	free(ours);
	free(its);
	free(cgroups);
}

/* --- start and end ------------------------------------------------------------------------- */

static int64_t positive(long v)
{
	return v > 0 ? v : UNKNOWN;
}

static void read_calls(struct env *e)
{
	struct utsname u;

	if (!uname(&u)) {
		e->host = strdup(u.nodename);
		e->kernel = strdup(u.release);
		e->machine = strdup(u.machine);
	}
	e->page_size = positive(sysconf(_SC_PAGESIZE));
	e->clock_ticks = positive(sysconf(_SC_CLK_TCK));
}

void env_read_start(struct env *e, struct env_reading *r, const char *cwd, int64_t cpus)
{
	e->source = strdup(scan_available() == -ENOENT ? "unavailable" : "proc");
	r->start_ticks = steal_ticks();
	read_load(e->load_start);
	read_calls(e);
	e->cpus = cpus > 0 ? cpus : UNKNOWN;
	e->governor = cpu_governor();
	e->cpu_model = cpu_model();
	e->memory_bytes = number_of("/proc/meminfo", memtotal_parse);
	e->thp = thp();
	e->boot_id = word_of("/proc/sys/kernel/random/boot_id");
	/* In another namespace's /proc a number is another process's. */
	if (!r->of || !scan_available())
		read_places(e, r, cwd);
	read_pressures(e);
}

void env_read_end(struct env *e, const struct env_reading *r)
{
	int64_t ticks = steal_ticks();

	read_load(e->load_end);
	read_pressures(e);
	/* It can fall where the machine moved to another host. */
	if (ticks >= r->start_ticks && r->start_ticks >= 0 && e->clock_ticks > 0 &&
	    __builtin_mul_overflow(ticks - r->start_ticks, NS_PER_S / e->clock_ticks, &e->steal_ns))
		e->steal_ns = UNKNOWN;
}
