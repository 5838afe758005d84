/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reply - what a request is answered with
 */
#ifndef SERVE_REPLY_H
#define SERVE_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "report/document.h"

#define REPLY_POLICY_MAX 320

struct reply {
	unsigned int status;
	const char *type; /* static */
	char *body;       /* owned until it is sent */
	size_t len;
	char policy[REPLY_POLICY_MAX]; /* Content-Security-Policy; "": nothing is allowed */
};

/* {"error":"..."}; without memory an empty body. */
void reply_error(struct reply *r, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* For struct document_sink: appended to the body.  0 or -ENOMEM. */
int reply_put(void *reply, const char *data, size_t len);

#endif /* SERVE_REPLY_H */
