// SPDX-License-Identifier: GPL-2.0-or-later
#include "programs.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef EXITMETER_LIBEXECDIR
#define EXITMETER_LIBEXECDIR "/usr/local/libexec/exitmeter"
#endif

#define PATH_LEN (PATH_MAX + 64)

enum { PLACES = 3 };

/* Below the folder of this very program, which may have been moved; false: /proc does not tell. */
static bool below_us(const char *below, const char *name, char path[PATH_LEN])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, PATH_LEN, "%s/%sexitmeter-%s", self, below, name) < PATH_LEN;
}

/* The @place-th path to look at, from 0; false: there is none to tell. */
static bool place_of(int place, const char *name, char path[PATH_LEN])
{
	switch (place) {
	case 0:
		return below_us("", name, path);
	case 1:
		return below_us("../libexec/exitmeter/", name, path);
	default:
		return snprintf(path, PATH_LEN, "%s/exitmeter-%s", EXITMETER_LIBEXECDIR, name) <
		       PATH_LEN;
	}
}

int program_exec(const char *name, char *const argv[])
{
	char path[PATH_LEN];

	for (int i = 0; i < PLACES; i++)
		if (place_of(i, name, path))
			execv(path, argv);
	return -errno;
}

int program_find(const char *name, char *path, size_t cap)
{
	char found[PATH_LEN];

	for (int i = 0; i < PLACES; i++)
		if (place_of(i, name, found) && !access(found, X_OK))
			return snprintf(path, cap, "%s", found) < (int)cap ? 0 : -ENAMETOOLONG;
	return -errno;
}

int program_there(const char *name)
{
	char path[PATH_LEN];

	return program_find(name, path, sizeof(path));
}
