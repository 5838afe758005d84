/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lookup - one value of the summary by its name
 */
#ifndef LOOKUP_H
#define LOOKUP_H

#include "journal/json.h"
#include "model/summary.h"

/* The summary's members as JSON, made at the first question. */
struct lookup {
	const struct summary *of;
	struct json document;
};

struct lookup lookup_of(const struct summary *s);
/*
 * "usage.peak_rss_bytes", "run.labels.NAME", "at_peak.0.pid"; a name without a dot is also found
 * in usage, run, completeness, source, rusage and env, in this order.  False: there is none of
 * that name.  *@ret: its JSON text, borrowed until lookup_free.
 */
bool lookup_find(struct lookup *l, const char *name, size_t len, const char **ret, size_t *ret_len);
void lookup_free(struct lookup *l);

#endif /* LOOKUP_H */
