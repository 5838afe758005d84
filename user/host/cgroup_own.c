// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/cgroup_files.h"
#include "host/cgroup_folder.h"
#include "host/text.h"
#include "procfs/cgroup.h"
#include "procfs/reading.h"
#include "procfs/system.h"

#define TRIES      16
#define NOT_ALONE  "processes other than exitmeter are in it"
#define HAS_LIMITS "it has limits, which a cgroup beside it would not have"

/* --- making one ---------------------------------------------------------------------------- */

static bool has_memory(const char *folder, const char *name)
{
	size_t len = 0;
	char *text = cgroup_get(folder, name, &len);
	bool has = text && cgroup_has_word(text, len, "memory");

	free(text);
	return has;
}

/* Opened and locked; -EAGAIN: somebody took it for a left one, or it is one. */
static int make_one(const char *path)
{
	int fd;

	if (mkdir(path, 0755))
		return errno == EEXIST ? -EAGAIN : -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !access(path, F_OK))
		return fd;
	close(fd);
	return -EAGAIN;
}

static int make(const char *parent, char **ret_path)
{
	int fd = -EAGAIN;

	for (int i = 0; fd == -EAGAIN && i < TRIES; i++) {
		char *path;

		if (asprintf(&path, "%s/" CGROUP_OWN "%d-%d", parent, (int)getpid(), i) < 0)
			return -ENOMEM;
		fd = make_one(path);
		if (fd >= 0)
			*ret_path = path;
		else
			free(path);
	}
	return fd;
}

static int why(struct cgroup_own *o, const char *what, const char *where, int err)
{
	snprintf(o->reason, sizeof(o->reason), "%s %.400s: %s", what, where, strerror(-err));
	return err;
}

/* Below @parent, with @child in it. */
static int place(struct cgroup_own *o, const char *parent, pid_t child)
{
	int err;

	cgroup_sweep(parent);
	o->fd = make(parent, &o->path);
	if (o->fd < 0)
		return why(o, "cannot make a cgroup below", parent, o->fd);
	err = cgroup_put_pid(o->path, child);
	return err ? why(o, "cannot move the command into", o->path, err) : 0;
}

struct others {
	pid_t child;
	bool any;
};

static void see_other(void *ctx, pid_t pid)
{
	struct others *o = ctx;

	o->any |= pid != getpid() && pid != o->child;
}

/* Whether only we and @child are in it. */
static bool alone(const char *folder, pid_t child)
{
	struct others o = { .child = child };

	return cgroup_pids(folder, see_other, &o) > 0 && !o.any;
}

/* We go into a cgroup of our own, so that the one we are in can have the controller below it. */
static int step_aside(struct cgroup_own *o, const char *home, pid_t child)
{
	int err;

	if (asprintf(&o->leaf, "%s/exitmeter-self-%d", home, (int)getpid()) < 0) {
		o->leaf = NULL;
		return -ENOMEM;
	}
	if (mkdir(o->leaf, 0755)) {
		err = why(o, "cannot make a cgroup below", home, -errno);
		free(o->leaf);
		o->leaf = NULL;
		return err;
	}
	err = cgroup_put_pid(o->leaf, getpid());
	if (!err)
		err = place(o, home, child);
	if (!err)
		err = cgroup_put(home, "cgroup.subtree_control", "+memory");
	return err && !*o->reason ? why(o, "cannot turn the memory controller on below", home, err)
				  : err;
}

static bool limited(const char *folder)
{
	static const char *const files[] = { "memory.max", "memory.high", "memory.swap.max",
					     "cpu.max", "pids.max" };
	bool any = false;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t len = 0;
		char *text = cgroup_get(folder, files[i], &len);

		any |= text && strncmp(text, "max", 3) != 0;
		free(text);
	}
	return any;
}

static int beside(struct cgroup_own *o, struct cgroup_folder *f, pid_t child)
{
	if (limited(f->path)) {
		snprintf(o->reason, sizeof(o->reason), "%.300s: " NOT_ALONE ", and " HAS_LIMITS,
			 f->path);
		return -EBUSY;
	}
	if (!cgroup_folder_ascend(f) || !has_memory(f->path, "cgroup.subtree_control")) {
		snprintf(o->reason, sizeof(o->reason),
			 "%.300s: " NOT_ALONE ", and no cgroup beside it has the memory controller",
			 o->home);
		return -EBUSY;
	}
	return place(o, f->path, child);
}

static int open_second(struct cgroup_own *o, struct cgroup_folder *f, pid_t child)
{
	if (!has_memory(f->path, "cgroup.controllers")) {
		snprintf(o->reason, sizeof(o->reason), "%.400s has no memory controller", f->path);
		return -ENOTSUP;
	}
	if (has_memory(f->path, "cgroup.subtree_control") ||
	    !cgroup_put(f->path, "cgroup.subtree_control", "+memory"))
		return place(o, f->path, child);
	return alone(f->path, child) ? step_aside(o, f->path, child) : beside(o, f, child);
}

static int find(struct cgroup_own *o, struct cgroup_folder *ret)
{
	struct cgroup_texts t = { .mounts = "", .cgroups = "" };
	char *cgroups = text_read_all("/proc/self/cgroup", &t.cgroups_len);
	char *mounts = text_read_all("/proc/self/mountinfo", &t.mounts_len);

	if (cgroups && mounts) {
		t.cgroups = cgroups;
		t.mounts = mounts;
		*ret = cgroup_folder_of(&t, "memory", &o->version);
	}
	free(cgroups);
	free(mounts);
	if (ret->path)
		o->home = strdup(ret->path);
	if (!o->home)
		snprintf(o->reason, sizeof(o->reason), "no cgroups can be seen here");
	return o->home ? 0 : -ENOENT;
}

void cgroup_own_open(struct cgroup_own *o, pid_t child)
{
	struct cgroup_folder f = { NULL, 0 };
	int err;

	*o = (struct cgroup_own){ .fd = -1 };
	err = find(o, &f);
	if (!err)
		err = o->version == 1 ? place(o, f.path, child) : open_second(o, &f, child);
	free(f.path);
	if (!err)
		return;
	if (!*o->reason)
		snprintf(o->reason, sizeof(o->reason), "%s", strerror(-err));
	cgroup_own_close(o);
}

/* --- the end ------------------------------------------------------------------------------- */

static int64_t number_in(const char *folder, const char *name)
{
	size_t len = 0;
	char *text = cgroup_get(folder, name, &len);
	int64_t v = UNKNOWN;

	if (text)
		number_parse(text, len, &v);
	free(text);
	return v;
}

struct cgroup_use cgroup_own_read(struct cgroup_own *o)
{
	const bool first = o->version == 1;
	const char *peak = first ? "memory.max_usage_in_bytes" : "memory.peak";
	const char *events = first ? "memory.oom_control" : "memory.events";
	struct cgroup_use use = { UNKNOWN, UNKNOWN };
	size_t len = 0;
	char *text;

	if (!o->path)
		return use;
	use.peak_bytes = number_in(o->path, peak);
	if (use.peak_bytes < 0)
		snprintf(o->reason, sizeof(o->reason), "%s is not there%s", peak,
			 first ? "" : ": it takes Linux 5.19");
	text = cgroup_get(o->path, events, &len);
	if (text)
		use.oom_kills = cgroup_count(text, len, "oom_kill");
	free(text);
	return use;
}

void cgroup_own_close(struct cgroup_own *o)
{
	if (o->leaf) {
		/* Before anybody can come back. */
		cgroup_put(o->home, "cgroup.subtree_control", "-memory");
		cgroup_put_pid(o->home, getpid());
		cgroup_remove(o->leaf, o->home);
	}
	if (o->path)
		cgroup_remove(o->path, o->home);
	if (o->fd >= 0)
		close(o->fd);
	free(o->path);
	free(o->home);
	free(o->leaf);
	o->path = o->home = o->leaf = NULL;
	o->fd = -1;
}
