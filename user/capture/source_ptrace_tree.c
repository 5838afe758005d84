// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_ptrace_tree.h"

#include <stdlib.h>

struct tracee *tracee_find(const struct tree_table *t, pid_t tid)
{
	struct tracee *e;

	HASH_FIND_INT(t->tracees, &tid, e);
	return e;
}

struct member *member_find(const struct tree_table *t, pid_t tgid)
{
	struct member *m;

	HASH_FIND_INT(t->members, &tgid, m);
	return m;
}

static void count_in(struct member *m)
{
	m->threads++;
	m->alive++;
	m->threads_ever++;
}

struct tracee *tracee_add(struct tree_table *t, pid_t tid, struct member *of)
{
	struct tracee *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->tid = tid;
	e->of = of;
	HASH_ADD_INT(t->tracees, tid, e);
	if (!hash_is_in(e)) {
		free(e);
		return NULL;
	}
	if (of)
		count_in(of);
	else
		t->waiting++;
	return e;
}

void tracee_join(struct tree_table *t, struct tracee *e, struct member *of)
{
	e->of = of;
	t->waiting--;
	count_in(of);
}

struct member *member_add(struct tree_table *t, pid_t tgid)
{
	struct member *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->tgid = tgid;
	m->images_bytes = m->images_most_bytes = UNKNOWN;
	HASH_ADD_INT(t->members, tgid, m);
	if (hash_is_in(m))
		return m;
	free(m);
	return NULL;
}

void tracee_remove(struct tree_table *t, struct tracee *e)
{
	if (!e->of) {
		t->waiting--;
	} else {
		e->of->threads--;
		e->of->alive -= !e->leaving;
	}
	HASH_DEL(t->tracees, e);
	free(e);
}

void member_remove(struct tree_table *t, struct member *m)
{
	HASH_DEL(t->members, m);
	free(m);
}
