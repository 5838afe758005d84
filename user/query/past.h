/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past - what a database knows of earlier runs: rows for suggest and fleet
 */
#ifndef QUERY_PAST_H
#define QUERY_PAST_H

#include "query/fleet.h"
#include "query/query.h"
#include "query/suggest.h"

struct past_list {
	struct past *at; /* owned */
	size_t n;
};

/*
 * Whole runs and attempts that @pattern (fnmatch) fits: a run's command line, the base name of its
 * program, or the name it has in a split tree; an attempt's id.  0 or -errno (query_why).
 */
int past_find(struct query *q, const char *pattern, struct past_list *ret);
void past_free(struct past_list *l);

struct fleet_list {
	struct fleet_part *at; /* owned, sorted as fleet_hosts wants them */
	size_t n;
};

/* The journals of the run @id. */
int past_parts(struct query *q, const char *id, struct fleet_list *ret);
void past_parts_free(struct fleet_list *l);

#endif /* QUERY_PAST_H */
