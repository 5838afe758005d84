// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/planned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "journal/spans.h"

struct border {
	int64_t at_ns;
	struct stretch *of;
	bool is_end;
};

/* Ends first: the next attempt may bear the same name. */
static int in_order(const void *a, const void *b)
{
	const struct border *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->is_end == y->is_end ? 0 : x->is_end ? -1 : 1;
}

static void add(struct planned *p, struct stretch *s, int64_t at_ns, bool is_end)
{
	p->borders[p->n++] = (struct border){ .at_ns = at_ns, .of = s, .is_end = is_end };
}

int planned_open(struct planned *p, const char *path, int64_t started_at_ns)
{
	struct stat st;

	*p = (struct planned){ 0 };
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	spans_read(path, started_at_ns, false, &p->all);
	p->borders = calloc(2 * p->all.n + 1, sizeof(*p->borders));
	if (!p->borders)
		return -ENOMEM;
	for (struct stretch *s = p->all.first; s; s = s->next) {
		if (s->started_ns < 0 || s->started_ns == s->ended_ns)
			continue;
		add(p, s, s->started_ns, false);
		if (s->ended_ns != TIME_NONE)
			add(p, s, s->ended_ns, true);
	}
	qsort(p->borders, p->n, sizeof(*p->borders), in_order);
	return 0;
}

int64_t planned_next_ns(const struct planned *p)
{
	return p->next < p->n ? p->borders[p->next].at_ns : TIME_NONE;
}

/* @settled: of one that was begun here, and not by somebody else under that name. */
static void serve(const struct border *b, struct control *c)
{
	const char *name = b->of->name;

	if (!b->is_end)
		b->of->settled = !control_attempt_start(c, name, strlen(name), b->at_ns);
	else if (b->of->settled)
		control_attempt_end(c, name, strlen(name), b->at_ns);
}

void planned_serve(struct planned *p, struct control *c, int64_t now_ns)
{
	while (p->next < p->n && p->borders[p->next].at_ns <= now_ns)
		serve(&p->borders[p->next++], c);
}

void planned_close(struct planned *p)
{
	free(p->borders);
	stretches_free(&p->all);
	*p = (struct planned){ 0 };
}
