/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runs - what is known of the served journals: as metrics, and as JSON for the live page
 */
#ifndef SERVE_RUNS_H
#define SERVE_RUNS_H

#include "serve/journals.h"
#include "serve/reply.h"

#define RUNS_MAX 50 /* in the JSON: those that began last */

/* Of runs that go on what they take now, of those that have ended what they came to; of exitmeter
 * itself too.  0 or -ENOMEM. */
int runs_metrics(const struct journals *j, int64_t started_at_ns, bool openmetrics,
		 struct reply *ret);
int runs_json(const struct journals *j, struct reply *ret);

#endif /* SERVE_RUNS_H */
