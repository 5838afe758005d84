/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output - a file a report goes to, opened before anything starts
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct output {
	const char *name; /* borrowed, for messages; NULL: none or stderr, errors are not told */
	int fd;           /* -1: none; not inherited by the command */
	bool replaces;    /* a regular file whose content goes when the new one is ready */
	char *whole;      /* owned: it is written as @temporary and gets this name at the end */
	char *temporary;  /* owned */
};

/*
 * @name: a path, "-" for stdout, "fd:N", or NULL for none.  A path is created but not emptied.
 * 0; -errno after one line was printed, @ret is none then.
 */
int output_open(const char *name, bool append, struct output *ret);
/*
 * The same of a file that others may read at any time: it has its name once it is whole, and what
 * had it before stays if that fails.  A name of something else than a file is written as it is.
 */
int output_open_whole(const char *name, struct output *ret);
/* Whether of these, NULL for none, one at most goes to stdout and no two into one file; false after
 * one line was printed. */
bool outputs_differ(const char *const names[], size_t n);
/* Whether @name, NULL too, is a path and no descriptor. */
bool output_is_path(const char *name);
/*
 * Whether a file may be made beside the path @name and get its name: 1; 0: it can be written only
 * as it is, since it is no file or its folder takes no names; -errno after one line was printed.
 */
int output_may_replace(const char *name);
/* None where stderr is closed. */
void output_stderr(struct output *ret);
/* Right before the first byte: empties what it replaces.  0 or -errno. */
int output_begin(struct output *o);
/* For struct document_sink: begins where that was not done, and writes.  0 or -errno. */
int output_put(void *output, const char *data, size_t len);
/* Closed and never written it would be whole but empty: output_drop. */
void output_drop(struct output *o);
/* @err: what happened before.  0; @err or what closing brings after one line was printed. */
int output_close(struct output *o, int err);

/* Writes all of it, over short writes and interruptions.  0 or -errno. */
int write_all(int fd, const char *data, size_t len);

/* An unlinked file in $TMPDIR, else /tmp, to write and read back.  0 or -errno. */
int temporary_open(FILE **ret);

#endif /* OUTPUT_H */
