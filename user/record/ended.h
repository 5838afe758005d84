/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ended - a process that ended, with its meter: what attempts are shared out from, and what is
 * sent to a server that does it (SPEC 1.13)
 */
#ifndef RECORD_ENDED_H
#define RECORD_ENDED_H

#include "journal/json.h"
#include "lib/exitmeter.h"

#define ENDED_EXITS_MAX 4096 /* the largest by peak and by CPU */

struct ended {
	char *run; /* owned, as are the lists */
	int64_t pid;
	int64_t worker, start; /* 0: none, not fenced */
	int64_t max_rss;       /* U-44; -1 none */
	struct em_mark *marks; /* aged, the oldest first */
	size_t n_marks;
	struct em_exit *exits; /* of the same now */
	size_t n_exits, exits_cap;
	int64_t aged_ns; /* that now: CLOCK_BOOTTIME */
};

void ended_free(struct ended *x);

/*
 * Adds one process; memory is that of twice ENDED_EXITS_MAX at most.  After the last:
 * ended_settle leaves no more than ENDED_EXITS_MAX, half of them the largest by peak, the others
 * the largest of the rest by CPU.  0 or -ENOMEM.
 */
int ended_add(struct ended *x, const struct em_exit *e);
void ended_settle(struct ended *x);

/* As U-101 has it, ages of @now_ns (CLOCK_BOOTTIME). */
void ended_json(struct json *j, const struct ended *x, int64_t now_ns);

#endif /* RECORD_ENDED_H */
