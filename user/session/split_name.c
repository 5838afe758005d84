// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/split_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/text.h"
#include "model/record.h"
#include "procfs/cgroup.h"
#include "session/split.h"

#define FILE_BYTES   ((size_t)128 * 1024) /* of an environment */
#define NAME_MAX_    1024
#define VARIABLE_MAX 62 /* of its name: as the BPF side looks for it */

bool split_key_valid(const char *key)
{
	const char *at = key + 4;

	if (!strcmp(key, "comm") || !strcmp(key, "cgroup"))
		return true;
	if (strncmp(key, "ENV:", 4) != 0 || !*at || isdigit((unsigned char)*at))
		return false;
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return !*at && at - key - 4 <= VARIABLE_MAX;
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

char *split_name(const char *key, pid_t pid, const char *comm)
{
	const char *file = key && !strcmp(key, "cgroup") ? "cgroup" : "environ";
	char path[32], *text, *name;
	size_t len;

	if (!key || !strcmp(key, "comm"))
		return comm ? strndup(comm, EM_COMM_LEN) : NULL;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	text = text_read_all(path, &len);
	if (!text)
		return NULL;
	name = *file == 'c' ? cgroup(text, len) : variable(text, len, key + 4);
	free(text);
	return name;
}
