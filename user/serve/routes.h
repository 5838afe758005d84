/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * routes - which request gets what; knows nothing of sockets
 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/journals.h"
#include "serve/recorder.h"
#include "serve/reply.h"
#include "serve/token.h"

#define BODY_MAX ((size_t)1 << 20) /* bytes, as they were sent and as they were meant */

/* What requests are answered from. */
struct site {
	struct journals journals;
	struct token token;
	const struct recorder *recorder; /* NULL: meters are not taken */
	int64_t started_at_ns;           /* since the epoch */
};

/* Texts are borrowed; NULL for a header that was not sent. */
struct request {
	const char *method, *path;
	const char *authorization, *accept, *content_type, *content_encoding, *content_length;
	const char *body;
	size_t len;
	int64_t received_ns; /* CLOCK_MONOTONIC */
};

/* Before its body has come: whether it is refused, with @ret then. */
bool route_refuses(const struct site *s, const struct request *r, struct reply *ret);
/* What Allow says of a path, for 405. */
const char *route_allows(const char *path);
void route_too_large(struct reply *ret);
/* One that is not refused, with its body. */
void route_answer(struct site *s, const struct request *r, struct reply *ret);

#endif /* SERVE_ROUTES_H */
