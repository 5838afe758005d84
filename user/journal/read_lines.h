/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_lines - a journal's lines as JSON objects, of limited length
 */
#ifndef JOURNAL_READ_LINES_H
#define JOURNAL_READ_LINES_H

#include <stdio.h>

#include "journal/read_values.h"

/* A line may be so long; the two that hold the command line, which the kernel limits, longer. */
#define JOURNAL_LINE_MAX      ((size_t)1 << 20)
#define JOURNAL_LONG_LINE_MAX ((size_t)40 << 20)

struct lines {
	FILE *in;
	unsigned long long n; /* the number of the line in @buf */
	char *buf;
	size_t len, cap;
	bool whole; /* it ended with a newline */
	bool again; /* it was put back */
	/* Bytes of @buf behind it that begin another journal; 0: none. */
	size_t rest, rest_at;
	bool rest_whole;
	off_t at, pos; /* where it begins, and where the next does, in the file */
	bool too_long; /* what did not fit was skipped */
	bool begun;    /* lines_follow: the rest of the line is still to come */
	struct json_tokener *tokener;
};

/* 0 or -ENOMEM; lines_free in any case. */
int lines_init(struct lines *l, FILE *in);
void lines_free(struct lines *l);

/*
 * 1: a line; 0: the end; -errno.  Where a journal that was cut off has another one behind it, the
 * half line and the other's first are two of one number.
 */
int lines_next(struct lines *l);
/* The line comes once more. */
void lines_put_back(struct lines *l);
/* lines_next of a file that grows: half a line is none yet, and is gone on with once there is more.
 */
int lines_follow(struct lines *l);
/* *@ret: the line's object, to be put; *@ret_event is of it.  0, or -EBADMSG with the reason. */
int lines_parse(struct lines *l, json_object **ret, const char **ret_event, struct why *why);

#endif /* JOURNAL_READ_LINES_H */
