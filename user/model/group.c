// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct group_entry {
	struct group group;
	UT_hash_handle hh;
};

static struct group_entry *entry_new(struct groups *g, const char *comm)
{
	struct group_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	memcpy(e->group.comm, comm, sizeof(e->group.comm));
	e->group.peak_rss_bytes = UNKNOWN;
	HASH_ADD(hh, g->by_name, group.comm, sizeof(e->group.comm), e);
	if (!hash_is_in(e)) {
		free(e);
		return NULL;
	}
	g->n++;
	return e;
}

void groups_merge(struct groups *g, const struct group *one)
{
	struct group_entry *e = NULL;
	struct group *to = &g->rest;

	if (!one->other)
		HASH_FIND(hh, g->by_name, one->comm, sizeof(one->comm), e);
	if (!e && !one->other && g->n < GROUPS_MAX)
		e = entry_new(g, one->comm);
	if (e)
		to = &e->group;
	else if (!to->other)
		*to = (struct group){ .other = true, .peak_rss_bytes = UNKNOWN };
	/* Known if it is of all. */
	if (!to->processes)
		to->cpu_ns = one->cpu_ns;
	else if (to->cpu_ns < 0 || one->cpu_ns < 0)
		to->cpu_ns = UNKNOWN;
	else if (__builtin_add_overflow(to->cpu_ns, one->cpu_ns, &to->cpu_ns))
		to->cpu_ns = INT64_MAX;
	to->processes += one->processes;
	if (one->peak_rss_bytes > to->peak_rss_bytes)
		to->peak_rss_bytes = one->peak_rss_bytes;
}

void groups_add(struct groups *g, const struct process *p)
{
	struct group one = { .processes = 1,
			     .cpu_ns = p->cpu_ns,
			     .peak_rss_bytes = p->peak_rss_bytes };
	size_t len = strnlen(p->comm, sizeof(p->comm));

	memcpy(one.comm, p->comm, len); /* the key is all 16 bytes: what follows the name is 0 */
	groups_merge(g, &one);
}

void groups_free(struct groups *g)
{
	struct group_entry *e = g->by_name, *next;

	HASH_CLEAR(hh, g->by_name);
	for (; e; e = next) {
		next = e->hh.next;
		free(e);
	}
	*g = (struct groups){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns > y->cpu_ns ? -1 : 1;
	return memcmp(x->comm, y->comm, sizeof(x->comm));
}

size_t groups_list(const struct groups *g, struct group *out)
{
	const struct group_entry *e;
	size_t n = 0;

	for (e = g->by_name; e; e = e->hh.next)
		out[n++] = e->group;
	qsort(out, n, sizeof(*out), compare);
	if (g->rest.other)
		out[n++] = g->rest;
	return n;
}
