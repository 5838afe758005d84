// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/split_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/text.h"
#include "model/record.h"
#include "options.h"
#include "procfs/cgroup.h"
#include "session/split.h"

#define FILE_BYTES ((size_t)128 * 1024) /* of an environment */
#define NAME_MAX_  1024

bool split_key_valid(const char *key)
{
	return !strcmp(key, "comm") || !strcmp(key, "cgroup") ||
	       (!strncmp(key, "ENV:", 4) && options_variable(key + 4));
}

const char *split_key_variable(const char *key)
{
	return key && !strncmp(key, "ENV:", 4) ? key + 4 : NULL;
}

/* The value of @name among NUL-separated "NAME=value". */
static char *variable(const char *env, size_t len, const char *name)
{
	const char *at = env, *end = env + len;
	size_t name_len = strlen(name);

	while (at < end) {
		size_t n = strnlen(at, (size_t)(end - at));

		if (n > name_len && at[name_len] == '=' && !memcmp(at, name, name_len)) {
			n -= name_len + 1;
			return strndup(at + name_len + 1, n < NAME_MAX_ ? n : NAME_MAX_);
		}
		at += n + 1;
	}
	return NULL;
}

/* Where its memory is limited: in version 1's hierarchy for that, else in version 2's. */
static char *cgroup(const char *text, size_t len)
{
	char *path = cgroup_path(text, len, "memory");

	return path ? path : cgroup_path(text, len, "");
}

static char *file_of(pid_t pid, const char *file, size_t *ret_len)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return text_read_all(path, ret_len);
}

char *split_variable(pid_t pid, const char *name)
{
	size_t len;
	char *text = file_of(pid, "environ", &len);
	char *value = text ? variable(text, len, name) : NULL;

	free(text);
	return value;
}

char *split_name(const char *key, pid_t pid, const char *comm)
{
	char *text, *name;
	size_t len;

	if (!key || !strcmp(key, "comm"))
		return comm ? strndup(comm, EM_COMM_LEN) : NULL;
	if (strcmp(key, "cgroup") != 0)
		return split_variable(pid, key + 4);
	text = file_of(pid, "cgroup", &len);
	name = text ? cgroup(text, len) : NULL;
	free(text);
	return name;
}
