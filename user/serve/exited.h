/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exited - the meter of a process that has ended, as a worker sends it (SPEC U-101 to U-103)
 *
 * {"run":…,"pid":…,"worker":…,"start":…,"max_rss":…,"marks":[[age,rss,cpu,cpus],…],
 *  "exits":[[age_start,age_end,peak_rss,cpu],…]}: all of it is good, or all of it is refused.
 */
#ifndef SERVE_EXITED_H
#define SERVE_EXITED_H

#include <stddef.h>

#include "lib/exitmeter.h"

#define EXITED_EXITS_MAX 4096
#define EXITED_RUN_MAX   256 /* bytes of a run's name */
#define EXITED_WHY_MAX   160

struct exited {
	char run[EXITED_RUN_MAX + 1]; /* as text, also where it came as an integer */
	bool run_is_number;
	int64_t pid;
	int64_t worker, start;             /* 0: no fence */
	int64_t max_rss;                   /* bytes; -1 not known */
	em_mark marks[EM_MARKS_PARSE_MAX]; /* ages in seconds before the request */
	size_t n_marks;
	em_exit *exits; /* likewise; owned */
	size_t n_exits;
};

/*
 * *@ret to be freed with exited_free, NULL after an error: -EBADMSG with what is wrong in words in
 * @why, or -ENOMEM.  Members that are not known are passed over.
 */
int exited_parse(const char *json, size_t len, struct exited **ret, char why[EXITED_WHY_MAX]);
void exited_free(struct exited *e); /* NULL is fine */

#endif /* SERVE_EXITED_H */
