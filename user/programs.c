// SPDX-License-Identifier: GPL-2.0-or-later
#include "programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef EXITMETER_LIBEXECDIR
#define EXITMETER_LIBEXECDIR "/usr/local/libexec/exitmeter"
#endif

#define PATH_LEN (PATH_MAX + 64)

/* False: /proc does not tell. */
static int beside_us(const char *name, char path[PATH_LEN])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	return snprintf(path, PATH_LEN, "%s/exitmeter-%s", self, name) < PATH_LEN;
}

static void in_libexec(const char *name, char path[PATH_LEN])
{
	snprintf(path, PATH_LEN, "%s/exitmeter-%s", EXITMETER_LIBEXECDIR, name);
}

int program_exec(const char *name, char *const argv[])
{
	char path[PATH_LEN];

	if (beside_us(name, path))
		execv(path, argv);
	in_libexec(name, path);
	execv(path, argv);
	return -errno;
}

int program_there(const char *name)
{
	char path[PATH_LEN];

	if (beside_us(name, path) && !access(path, X_OK))
		return 0;
	in_libexec(name, path);
	return access(path, X_OK) ? -errno : 0;
}
