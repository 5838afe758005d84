/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler - whose attempts are recorded: options for a scheduler's own database (SPEC 1.12)
 *
 * The same options of exitmeter and exitmeter record.  They go along with each URL, in the spool
 * too, as one line of text, a "target": the URL, and after a tab these.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULER_SQL_MAX 16384 /* bytes of a statement */

struct scheduler {
	bool on;         /* one was given */
	int64_t worker;  /* 0: none, nothing is fenced */
	int64_t start;   /* of the run; 0: none */
	char *start_env; /* the variable that holds it, in each run's environment; NULL: @start */
	char *select_sql, *update_sql; /* NULL: the defaults */
};

/* Rows of a table of options (options.h). */
#define SCHEDULER_OPTION 0x2000
#define SCHEDULER_SQL_ROWS                                                        \
	{ SCHEDULER_OPTION, "select-sql", "FILE",                                 \
	  "attempts: the statement that finds them (:run, :pid)" },               \
	{                                                                         \
		SCHEDULER_OPTION + 1, "update-sql", "FILE",                       \
			"attempts: the one that writes a share (:id, :peak, ...)" \
	}
#define SCHEDULER_ROWS                                                                    \
	{ SCHEDULER_OPTION + 2, "worker", "N",                                            \
	  "attempts: the worker whose start the run must still be; 0: any" },             \
		{ SCHEDULER_OPTION + 3, "start", "N|ENV:NAME",                            \
		  "attempts: number of the run's start, or the variable that holds it" }, \
		SCHEDULER_SQL_ROWS

/* Takes the option @key if it is one of them.  -1: it is not; 0; 1 after one line was printed. */
int scheduler_take(struct scheduler *s, int key, const char *arg);
/* Whether all of them go together; false after one line was printed. */
bool scheduler_check(const struct scheduler *s);
void scheduler_free(struct scheduler *s);
/* A variable's value as a number of a start or worker. */
bool scheduler_number(const char *text, int64_t *ret);

/* Whether @url, which is one, can have a scheduler's attempts; false after one line was printed. */
bool scheduler_suits(const struct scheduler *s, const char *url);
/* The target for @url; the caller's.  NULL: out of memory. */
char *scheduler_target(const struct scheduler *s, const char *url);
/*
 * Cuts @target behind its URL and reads the rest into @ret, to be freed in any case.  0, -EBADMSG
 * or -ENOMEM.
 */
int scheduler_of_target(char *target, struct scheduler *ret);

#endif /* SCHEDULER_H */
