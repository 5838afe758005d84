// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/split_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/record.h"
#include "procfs/scan.h"
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

/* "ID:CONTROLLERS:PATH" lines: the path of cgroup v2, or of v1's memory controller. */
static char *cgroup(const char *text, size_t len)
{
	const char *at = text, *end = text + len, *best = NULL;
	size_t best_len = 0;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		const char *first = memchr(at, ':', (size_t)(stop - at)), *second;

		second = first ? memchr(first + 1, ':', (size_t)(stop - first - 1)) : NULL;
		if (second) {
			bool v2 = second == first + 1;
			bool memory = second - first == 7 && !memcmp(first, ":memory", 7);

			if (!best || memory || (v2 && stop - second > 2)) {
				best = second + 1;
				best_len = (size_t)(stop - best);
			}
		}
		at = stop + 1;
	}
	return best ? strndup(best, best_len < NAME_MAX_ ? best_len : NAME_MAX_) : NULL;
}

char *split_name(const char *key, pid_t pid, const char *comm)
{
	const char *file = key && !strcmp(key, "cgroup") ? "cgroup" : "environ";
	char *text, *name;
	ssize_t len;

	if (!key || !strcmp(key, "comm"))
		return comm ? strndup(comm, EM_COMM_LEN) : NULL;
	text = malloc(FILE_BYTES);
	if (!text)
		return NULL;
	len = scan_text(pid, file, text, FILE_BYTES);
	name = len <= 0       ? NULL
	       : *file == 'c' ? cgroup(text, (size_t)len)
			      : variable(text, (size_t)len, key + 4);
	free(text);
	return name;
}
