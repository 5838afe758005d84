// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "host/text.h"
#include "units.h"

#define ROUNDS     50 /* of moving those out that are left, whose children come after them */
#define REMOVE_NS  (5 * NS_PER_MS)
#define NESTED_MAX 8

int cgroup_put(const char *folder, const char *name, const char *text)
{
	char *path;
	int fd, err = 0;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int cgroup_put_pid(const char *folder, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return cgroup_put(folder, "cgroup.procs", text);
}

char *cgroup_get(const char *folder, const char *name, size_t *ret_len)
{
	char *path, *text, *more;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return NULL;
	text = text_read_all(path, ret_len);
	free(path);
	more = text ? realloc(text, *ret_len + 1) : NULL;
	if (!more) {
		free(text);
		return NULL;
	}
	more[*ret_len] = '\0';
	return more;
}

size_t cgroup_pids(const char *folder, void (*take)(void *ctx, pid_t pid), void *ctx)
{
	size_t len = 0, n = 0;
	char *text = cgroup_get(folder, "cgroup.procs", &len), *end;

	for (char *p = text; p && *p; p = *end ? end + 1 : end, n++) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		take(ctx, (pid_t)pid);
	}
	free(text);
	return n;
}

/* --- what others left ---------------------------------------------------------------------- */

static void sweep(const char *parent, int depth);

/* Its lock is free once whoever made it has ended; rmdir fails while somebody is in it. */
static void remove_left(const char *parent, const char *name, int depth)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", parent, name) < 0)
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
		sweep(path, depth + 1);
		rmdir(path);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

static void sweep(const char *parent, int depth)
{
	DIR *dir = depth < NESTED_MAX ? opendir(parent) : NULL;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, CGROUP_OWN, strlen(CGROUP_OWN)))
			remove_left(parent, d->d_name, depth);
	if (dir)
		closedir(dir);
}

static void move_one(void *ctx, pid_t pid)
{
	cgroup_put_pid(ctx, pid); /* it may have ended just now */
}

void cgroup_remove(const char *path, char *home)
{
	const struct timespec moment = { .tv_nsec = REMOVE_NS };

	for (int i = 0; i < ROUNDS; i++) {
		cgroup_pids(path, move_one, home);
		sweep(path, 0);
		if (!rmdir(path) || errno != EBUSY)
			return;
		nanosleep(&moment, NULL);
	}
}

void cgroup_sweep(const char *parent)
{
	sweep(parent, 0);
}
