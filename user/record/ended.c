// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/ended.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_stretch.h"
#include "units.h"

void ended_free(struct ended *x)
{
	free(x->run);
	free(x->marks);
	free(x->exits);
	*x = (struct ended){ 0 };
}

/* --- processes ----------------------------------------------------------------------------- */

static int by_peak(const void *a, const void *b)
{
	const struct em_exit *x = a, *y = b;

	return (x->peak_rss < y->peak_rss) - (x->peak_rss > y->peak_rss);
}

static int by_cpu(const void *a, const void *b)
{
	const struct em_exit *x = a, *y = b;

	return (x->cpu < y->cpu) - (x->cpu > y->cpu);
}

void ended_settle(struct ended *x)
{
	const size_t half = ENDED_EXITS_MAX / 2;

	if (x->n_exits <= ENDED_EXITS_MAX)
		return;
	qsort(x->exits, x->n_exits, sizeof(*x->exits), by_peak);
	qsort(x->exits + half, x->n_exits - half, sizeof(*x->exits), by_cpu);
	x->n_exits = ENDED_EXITS_MAX;
}

int ended_add(struct ended *x, const struct em_exit *e)
{
	if (x->n_exits == (size_t)2 * ENDED_EXITS_MAX)
		ended_settle(x);
	if (x->n_exits == x->exits_cap) {
		size_t cap = x->exits_cap ? 2 * x->exits_cap : 16;
		struct em_exit *more = realloc(x->exits, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		x->exits = more;
		x->exits_cap = cap;
	}
	x->exits[x->n_exits++] = *e;
	return 0;
}

/* --- writing ------------------------------------------------------------------------------- */

/* U-102: no NaN or infinity ever. */
static void put_double(struct json *j, double v)
{
	json_double(j, isfinite(v) ? v : -1);
}

static void put_marks(struct json *j, const struct ended *x, double later_s)
{
	json_array(j);
	for (size_t i = 0; i < x->n_marks; i++) {
		const struct em_mark *m = &x->marks[i];

		json_array(j);
		put_double(j, m->at + later_s);
		json_int(j, m->rss < 0 ? -1 : m->rss);
		put_double(j, m->cpu);
		put_double(j, m->cpus);
		json_array_end(j);
	}
	json_array_end(j);
}

static void put_exits(struct json *j, const struct ended *x, double later_s)
{
	json_array(j);
	for (size_t i = 0; i < x->n_exits; i++) {
		const struct em_exit *e = &x->exits[i];

		json_array(j);
		put_double(j, e->started + later_s);
		put_double(j, e->ended + later_s);
		json_int(j, e->peak_rss < 0 ? -1 : e->peak_rss);
		put_double(j, e->cpu);
		json_array_end(j);
	}
	json_array_end(j);
}

void ended_json(struct json *j, const struct ended *x, int64_t now_ns)
{
	double later_s = (double)(now_ns - x->aged_ns) / (double)NS_PER_S;

	json_open(j);
	json_key(j, "run");
	json_attempt_id(j, x->run, strlen(x->run));
	json_key(j, "pid");
	json_int(j, x->pid);
	json_key(j, "worker");
	json_int(j, x->worker);
	json_key(j, "start");
	json_int(j, x->start);
	json_key(j, "max_rss");
	json_int(j, x->max_rss < 0 ? -1 : x->max_rss);
	json_key(j, "marks");
	put_marks(j, x, later_s);
	json_key(j, "exits");
	put_exits(j, x, later_s);
	json_close(j);
}
