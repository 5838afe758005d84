/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mountinfo - /proc/PID/mountinfo: what is mounted where (proc(5))
 *
 * Pure: text in.  Names in it are escaped: space, tab, newline, backslash and # are \040 and the
 * like.
 */
#ifndef PROCFS_MOUNTINFO_H
#define PROCFS_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the text, still escaped. */
struct escaped {
	const char *at;
	size_t len;
};

struct mount {
	uint64_t id, parent;
	struct escaped root, point, type, options; /* the file system's own options */
};

/*
 * The mount that @path is on: not the longest mount point of all, since another mount can hide
 * that, but the last one on the way down from the root.  False: none, or no absolute path.
 */
bool mountinfo_find(const char *text, size_t len, const char *path, struct mount *ret);

/* The first mount of a file system of @type with @option among its own ("": with any). */
bool mountinfo_of_type(const char *text, size_t len, const char *type, const char *option,
		       struct mount *ret);

/* Plain again, owned by the caller; NULL: out of memory, or a NUL in it. */
char *mountinfo_plain(struct escaped from);

/*
 * What of @path is below @top, "" for the same, beginning with a slash otherwise; NULL: it is not
 * at or below it.  /a is no part of /ab.
 */
const char *mountinfo_below(const char *path, struct escaped top);

#endif /* PROCFS_MOUNTINFO_H */
