// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree - who started whom: the first processes by peak, CPU or start with all above them, and of
 * the others one line below whom they belong to
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/name.h"
#include "format/table.h"

#define DEPTH_MAX 200 /* deeper ones stand beside each other */

struct node {
	char *name;
	struct node *parent; /* stands before it; NULL: none */
	struct columns_line *line;
	bool shown;
	int depth;
	/* Those below it that are not shown. */
	int64_t others, others_cpu_ns, others_peak_bytes;
	struct process figures; /* without arguments */
};

struct nodes {
	struct node *at;
	size_t n, cap;
};

static int add_node(struct nodes *all, const struct process *p, size_t name_max)
{
	char name[512];
	struct node *n;

	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 256;

		n = reallocarray(all->at, cap, sizeof(*n));
		if (!n)
			return -ENOMEM;
		all->at = n;
		all->cap = cap;
	}
	n = &all->at[all->n];
	*n = (struct node){ .others_peak_bytes = UNKNOWN };
	memcpy(&n->figures, p, sizeof(*p)); /* not what follows it */
	process_name(p, name, name_max < sizeof(name) ? name_max : sizeof(name));
	n->name = strdup(name);
	if (!n->name)
		return -ENOMEM;
	all->n++;
	return 0;
}

static void free_nodes(struct nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->at[i].name);
	free(all->at);
}

/* --- who belongs to whom -------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct process *x = &((const struct node *)a)->figures;
	const struct process *y = &((const struct node *)b)->figures;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* A pointer is compared for those of one pid: the nodes stand by their start. */
static int by_pid(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	if (x->figures.pid != y->figures.pid)
		return x->figures.pid < y->figures.pid ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The last process of that pid that stands before @child: pids come again. */
static struct node *find_parent(struct node **pids, size_t n, const struct node *child)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct node *at = pids[mid];

		if (at->figures.pid < child->figures.ppid ||
		    (at->figures.pid == child->figures.ppid && at < child))
			low = mid + 1;
		else
			high = mid;
	}
	return low && pids[low - 1]->figures.pid == child->figures.ppid ? pids[low - 1] : NULL;
}

static int find_parents(struct nodes *all)
{
	struct node **pids = calloc(all->n + 1, sizeof(struct node *));

	if (!pids)
		return -ENOMEM;
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_start);
	for (size_t i = 0; i < all->n; i++)
		pids[i] = &all->at[i];
	qsort(pids, all->n, sizeof(struct node *), by_pid);
	for (size_t i = 0; i < all->n; i++) {
		struct node *n = &all->at[i];

		n->parent = find_parent(pids, all->n, n);
		if (n->parent && n->parent->depth >= DEPTH_MAX)
			n->parent = n->parent->parent;
		n->depth = n->parent ? n->parent->depth + 1 : 0;
	}
	free(pids);
	return 0;
}

/* --- what is shown -------------------------------------------------------------------------- */

static int by_peak(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	if (x->figures.peak_rss_bytes != y->figures.peak_rss_bytes)
		return x->figures.peak_rss_bytes > y->figures.peak_rss_bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_cpu(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	if (x->figures.cpu_ns != y->figures.cpu_ns)
		return x->figures.cpu_ns > y->figures.cpu_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int choose(struct nodes *all, const struct format_input *in)
{
	struct node **order = calloc(all->n + 1, sizeof(struct node *));
	size_t n = in->all || in->top > all->n ? all->n : in->top;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++)
		order[i] = &all->at[i];
	if (in->sort == TOP_PEAK)
		qsort(order, all->n, sizeof(struct node *), by_peak);
	else if (in->sort == TOP_CPU)
		qsort(order, all->n, sizeof(struct node *), by_cpu);
	for (size_t i = 0; i < n; i++)
		for (struct node *up = order[i]; up && !up->shown; up = up->parent)
			up->shown = true;
	free(order);
	return 0;
}

/* Each of the others counts for the next one above it that is shown. */
static void count_others(struct nodes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct process *p = &all->at[i].figures;
		struct node *up = all->at[i].parent;

		if (all->at[i].shown)
			continue;
		while (up && !up->shown)
			up = up->parent;
		if (!up)
			continue;
		up->others++;
		if (p->cpu_ns < 0 ||
		    __builtin_add_overflow(up->others_cpu_ns, p->cpu_ns, &up->others_cpu_ns))
			up->others_cpu_ns = INT64_MIN; /* not known, and it stays so */
		if (p->peak_rss_bytes > up->others_peak_bytes)
			up->others_peak_bytes = p->peak_rss_bytes;
	}
}

static void put_nodes(struct nodes *all, struct columns *c)
{
	char text[64];

	for (size_t i = 0; i < all->n; i++) {
		struct node *n = &all->at[i];

		if (!n->shown)
			continue;
		n->line = columns_line(c, n->parent ? n->parent->line : NULL,
				       table_colour(&n->figures));
		table_process(c, n->line, &n->figures, n->name);
	}
	for (size_t i = 0; i < all->n; i++) {
		struct node *n = &all->at[i];

		if (!n->others)
			continue;
		snprintf(text, sizeof(text), "(%lld %s)", (long long)n->others,
			 n->others == 1 ? "other" : "others");
		table_figures(c, columns_line(c, n->line, COLOUR_FAINT), n->others_peak_bytes,
			      n->others_cpu_ns < 0 ? UNKNOWN : n->others_cpu_ns, text);
	}
}

int format_tree(const struct format_input *in, const struct document_sink *to)
{
	struct nodes all = { 0 };
	struct columns *c;
	struct process *p;
	int err = columns_new(in->width, in->colour, &c);

	if (err)
		return err;
	while (!err && (p = in->rows->next(in->rows->ctx))) {
		err = add_node(&all, p, table_name_max(in->width));
		process_unref(p);
	}
	if (!err)
		err = find_parents(&all);
	if (!err)
		err = choose(&all, in);
	if (!err) {
		count_others(&all);
		table_heads(c, COLUMN_TREE);
		put_nodes(&all, c);
		err = table_put(in, c, to);
	}
	free_nodes(&all);
	columns_free(c);
	return err;
}
