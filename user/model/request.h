/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request - what one line of the control channel asks for (INTERFACE 7)
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_LINE_MAX 4096

enum request_kind {
	REQUEST_PHASE,
	REQUEST_RUN, /* "phase run K/N" */
	REQUEST_ATTEMPT_START,
	REQUEST_ATTEMPT_END,
	REQUEST_RESET_PEAK,
	REQUEST_USAGE,
	REQUEST_PING,
};

struct request {
	enum request_kind kind;
	const char *name; /* of the phase or attempt: borrowed from the line, not NUL-terminated */
	size_t name_len;
	uint64_t run, runs; /* K and N */
	const char *of;     /* "run ID ...": of which run of a split tree; NULL: not said */
	size_t of_len;
};

/*
 * @line without its newline.  NULL and *@ret; or what is wrong with it in words, *@ret is not
 * defined then.
 */
const char *request_parse(const char *line, size_t len, struct request *ret);

/* Whether runs are looked at after it: the first and the last (SPEC ). */
bool request_run_counts(const struct request *r);

/* Of a phase's name: whether it is "run K/N", and then not the first or the last. */
bool name_is_run(const char *name, size_t len, uint64_t *ret_run, uint64_t *ret_runs);
bool name_is_middle_run(const char *name, size_t len);

/* Whether an attempt's name is an integer as JSON writes it. */
bool name_is_integer(const char *name, size_t len, int64_t *ret);

#endif /* REQUEST_H */
