// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/machine.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/borrow.h"
#include "capture/probe.h"
#include "capture/refusal.h"
#include "procfs/scan.h"

#define POWERCAP "/sys/class/powercap"

/* --- mounts -------------------------------------------------------------------------------- */

struct mount {
	char at[512], type[64], options[512];
};

/* "ID PARENT DEVICE ROOT AT OPTIONS [FIELD...] - TYPE SOURCE OPTIONS": proc(5), mountinfo. */
static bool mount_parse(const char *line, struct mount *m)
{
	const char *rest = strstr(line, " - ");

	return rest && sscanf(line, "%*s %*s %*s %*s %511s", m->at) == 1 &&
	       sscanf(rest, " - %63s %*s %511s", m->type, m->options) == 2;
}

static bool has_option(const char *options, const char *name)
{
	const char *at = options;
	size_t len = strlen(name);

	while ((at = strstr(at, name))) {
		char end = at[len];

		if ((at == options || at[-1] == ',') && (!end || end == ',' || end == '='))
			return true;
		at += len;
	}
	return false;
}

/* The last of @type, with @option where that is not NULL: it lies over the others. */
static bool mount_find(const char *type, const char *option, struct mount *ret)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	bool found = false;
	struct mount m;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		if (!mount_parse(line, &m) || strcmp(m.type, type) != 0 ||
		    (option && !has_option(m.options, option)))
			continue;
		*ret = m;
		found = true;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* --- the checks ---------------------------------------------------------------------------- */

void machine_ptrace(struct checks *c)
{
	int err = source_ptrace_probe(), scope = yama_scope();
	const char *cause, *remedy;
	char yama[48] = "no yama";

	if (scope >= 0)
		snprintf(yama, sizeof(yama), "yama's ptrace_scope is %d", scope);
	if (!err) {
		checks_add(c, "ptrace", CHECK_WORKS, false, NULL,
			   "a child was traced to its end; %s", yama);
		return;
	}
	cause = refusal_of_ptrace(&remedy);
	checks_add(c, "ptrace", CHECK_NO, false, remedy, "%s%s%s; %s", strerror(-err),
		   cause ? ": " : "", cause ? cause : "", yama);
}

void machine_proc(struct checks *c)
{
	struct proc_stat first;
	struct mount m = { .options = "" };
	const char *hide;
	char mode[32] = "hidepid=0";

	if (scan_available()) {
		checks_add(c, "proc", CHECK_NO, false, "mount -t proc proc /proc",
			   "/proc is not mounted, or is another pid namespace's: no samples, and "
			   "without BPF no tree");
		return;
	}
	mount_find("proc", NULL, &m);
	hide = strstr(m.options, "hidepid=");
	if (hide)
		snprintf(mode, sizeof(mode), "%.*s", (int)strcspn(hide, ","), hide);
	if (scan_stat(1, &first) || (hide && !has_option(hide, "hidepid=0") && !may_read_others()))
		checks_add(c, "proc", CHECK_NO, false,
			   "CAP_SYS_PTRACE, or a mount of /proc with hidepid=0",
			   "%s hides processes of other users: no samples of those", mode);
	else
		checks_add(c, "proc", CHECK_WORKS, false, NULL, "all processes are seen; %s", mode);
}

/* The group of this process: of the v1 @controller, or of v2 where that is "". */
static bool group_of_self(const char *controller, char *path, size_t cap)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char *line = NULL, *list, *name;
	bool found = false;
	size_t len = 0;

	while (!found && f && getline(&line, &len, f) > 0) {
		list = strchr(line, ':');
		name = list ? strchr(list + 1, ':') : NULL;
		if (!name)
			continue;
		*list++ = *name++ = '\0';
		name[strcspn(name, "\n")] = '\0';
		found = *controller ? has_option(list, controller) : !*list;
		if (found)
			snprintf(path, cap, "%s", name);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* In its own group, or in the one that is mounted where a container shows only that. */
static bool peak_readable(const struct mount *m, const char *controller, const char *file)
{
	char group[512], path[PATH_MAX];

	if (!group_of_self(controller, group, sizeof(group)))
		return false;
	snprintf(path, sizeof(path), "%s%s/%s", m->at, group, file);
	if (!access(path, R_OK))
		return true;
	snprintf(path, sizeof(path), "%s/%s", m->at, file);
	return !access(path, R_OK);
}

void machine_cgroup(struct checks *c)
{
	struct mount v1 = { 0 }, v2 = { 0 };
	bool has_v2 = mount_find("cgroup2", NULL, &v2);
	bool has_memory = mount_find("cgroup", "memory", &v1);
	bool has_v1 = has_memory || mount_find("cgroup", NULL, &v1);
	const char *which = has_v1 && has_v2 ? "v1 and v2" : has_v1 ? "v1" : "v2";

	if (!has_v1 && !has_v2)
		checks_add(c, "cgroup", CHECK_NO, false, "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
			   "none is mounted");
	else if (has_v2 && peak_readable(&v2, "", "memory.peak"))
		checks_add(c, "cgroup", CHECK_WORKS, false, NULL, "%s; memory.peak is readable",
			   which);
	else if (has_memory && peak_readable(&v1, "memory", "memory.max_usage_in_bytes"))
		checks_add(c, "cgroup", CHECK_WORKS, false, NULL,
			   "%s; memory is v1's: memory.max_usage_in_bytes is readable, no "
			   "memory.peak",
			   which);
	else
		checks_add(c, "cgroup", CHECK_NO, false,
			   "run it in a group of its own (systemd-run --scope) with the memory "
			   "controller, on Linux 5.19 or newer",
			   "%s; no peak of memory is readable in this process's group", which);
}

void machine_energy(struct checks *c)
{
	DIR *dir = opendir(POWERCAP);
	bool found = false, readable = false;
	char path[PATH_MAX];
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (strncmp(d->d_name, "intel-rapl:", 11) != 0)
			continue;
		snprintf(path, sizeof(path), POWERCAP "/%s/energy_uj", d->d_name);
		found |= !access(path, F_OK);
		readable |= !access(path, R_OK);
	}
	if (dir)
		closedir(dir);
	if (readable)
		checks_add(c, "energy", CHECK_WORKS, false, NULL, "RAPL in " POWERCAP);
	else if (found)
		checks_add(c, "energy", CHECK_NO, false,
			   "run it as root, or chmod a+r " POWERCAP "/intel-rapl:*/energy_uj",
			   "RAPL's energy_uj is readable by root only");
	else
		checks_add(c, "energy", CHECK_NO, false, NULL,
			   "no such interface: no RAPL in " POWERCAP);
}

void machine_memlock(struct checks *c)
{
	const struct check *bpf = checks_find(c, "bpf");
	char limit[48] = "unlimited";
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r)) {
		checks_add(c, "memlock", CHECK_UNKNOWN, false, NULL, "%s", strerror(errno));
		return;
	}
	if (r.rlim_cur != RLIM_INFINITY)
		snprintf(limit, sizeof(limit), "%llu KiB", (unsigned long long)r.rlim_cur / 1024);
	if (r.rlim_cur == RLIM_INFINITY || (bpf && bpf->state == CHECK_WORKS))
		checks_add(c, "memlock", CHECK_WORKS, false, NULL, "%s: enough", limit);
	else
		checks_add(c, "memlock", CHECK_UNKNOWN, false,
			   "ulimit -l unlimited, where Linux is older than 5.11",
			   "%s; newer ones need none, and BPF did not load", limit);
}

void machine_probed(struct checks *c)
{
	char why[256];
	int fd = borrow_connect(why, sizeof(why));

	if (fd >= 0) {
		close(fd);
		checks_add(c, "probed", CHECK_WORKS, false, NULL,
			   "exitmeter-probed loads the programs for who may not");
	} else {
		checks_add(
			c, "probed", CHECK_NO, false,
			"systemctl enable --now exitmeter-probed.socket (as root), and the group "
			"exitmeter",
			"%s",
			*why ? why : "no exitmeter-probed answers; BPF of our own needs none");
	}
}

void machine_tracefs(struct checks *c)
{
	static const char note[] = "this plan does not need it";

	if (!access("/sys/kernel/tracing/events", X_OK) ||
	    !access("/sys/kernel/debug/tracing/events", X_OK))
		checks_add(c, "tracefs", CHECK_WORKS, false, NULL, "mounted; %s", note);
	else
		checks_add(c, "tracefs", CHECK_NO, false,
			   "mount -t tracefs tracefs /sys/kernel/tracing (as root)",
			   "not mounted, or not for this user; %s", note);
}
