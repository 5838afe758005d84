// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/reading.h"
#include "units.h"

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)

struct host_load host_load_blank(void)
{
	return (struct host_load){ .foreign_cores = NAN,
				   .threshold_cores = NAN,
				   .span_ns = UNKNOWN,
				   .window_ns = UNKNOWN,
				   .busy_ns = UNKNOWN,
				   .own_ns = UNKNOWN,
				   .steal_ns = UNKNOWN };
}

void host_load_free(struct host_load *h)
{
	free(h->reason);
	*h = host_load_blank();
}

/* A counter that went back is none. */
static int64_t since(int64_t from, int64_t to)
{
	return from < 0 || to < from ? UNKNOWN : to - from;
}

int64_t load_busy_ns(const struct load_reading *from, const struct load_reading *to)
{
	return since(from->busy_ns, to->busy_ns);
}

int64_t load_steal_ns(const struct load_reading *from, const struct load_reading *to)
{
	return since(from->steal_ns, to->steal_ns);
}

int64_t load_own_ns(const struct load_reading *from, const struct load_reading *to)
{
	int64_t self = since(from->self_ns, to->self_ns), tree = since(from->tree_ns, to->tree_ns);
	int64_t own;

	return self < 0 || tree < 0 || __builtin_add_overflow(self, tree, &own) ? UNKNOWN : own;
}

/* In seconds since the first, so that doubles keep every ns. */
static em_verdict classify(const struct load_reading *from, const struct load_reading *to,
			   int64_t window_ns)
{
	const em_load before = { 0, 0, 0 };
	int64_t busy = load_busy_ns(from, to), own = load_own_ns(from, to);
	em_load after = { SECONDS(to->at_ns - from->at_ns), busy < 0 ? -1 : SECONDS(busy),
			  own < 0 ? -1 : SECONDS(own) };

	return window_ns < 0 ? em_classify(&before, &after)
			     : em_classify_window(&before, &after, SECONDS(window_ns));
}

/* The window that @r ends, and what it makes of the worst. */
static void close_window(const struct load_reading *from, const struct load_reading *r,
			 int64_t start_ns, struct load_window *ret_newest,
			 struct load_window *worst)
{
	struct load_window now = { .at_ns = from->at_ns - start_ns,
				   .span_ns = r->at_ns - from->at_ns };
	em_verdict v = classify(from, r, UNKNOWN);

	*ret_newest = (struct load_window){ 0 };
	if (now.span_ns < LOAD_MIN_SPAN_NS || v.host == EM_HOST_UNAVAILABLE)
		return;
	now.foreign_cores = v.foreign;
	now.verdict = v.host;
	*ret_newest = now;
	if (!worst->span_ns || now.foreign_cores > worst->foreign_cores)
		*worst = now;
}

void load_on_reading(struct load_watch *w, const struct load_reading *r, int64_t start_ns)
{
	if (w->begun)
		close_window(&w->last, r, start_ns, &w->newest, &w->worst);
	else
		w->first = *r;
	w->begun = true;
	w->last = *r;
}

void load_on_sample(struct load_watch *w, const struct load_sample *s)
{
	const struct load_reading zero = { 0 };
	const struct load_reading r = { .at_ns = s->at_ns,
					.busy_ns = s->busy_ns,
					.steal_ns = s->steal_ns,
					.self_ns = 0,
					.tree_ns = s->own_ns };

	/* The first look was where the run began. */
	if (!w->begun)
		load_on_reading(w, &zero, 0);
	load_on_reading(w, &r, 0);
}

static int set_reason(struct host_load *h, const char *why)
{
	h->reason = strdup(why);
	return h->reason ? 0 : -ENOMEM;
}

static bool went_back(int64_t from, int64_t to)
{
	return from >= 0 && to >= 0 && to < from;
}

/* Why there is no verdict: what SPEC H-25 and H-30a name. */
static const char *reason_of(const struct load_reading *first, const struct load_reading *last,
			     em_verdict v)
{
	if (first->busy_ns < 0 || last->busy_ns < 0)
		return em_host_reason_text(EM_HOST_NO_READING);
	if (went_back(first->busy_ns, last->busy_ns) || went_back(first->tree_ns, last->tree_ns) ||
	    went_back(first->self_ns, last->self_ns))
		return em_host_reason_text(EM_HOST_WENT_BACK);
	if (load_own_ns(first, last) < 0)
		return "own-time-unknown";
	return em_host_reason_text(v.reason);
}

int load_judge(const struct load_reading *first, const struct load_reading *last, int64_t window_ns,
	       struct host_load *ret)
{
	int64_t span = last->at_ns - first->at_ns;
	bool padded = window_ns >= 0 && window_ns < span;
	em_verdict v = classify(first, last, padded ? window_ns : UNKNOWN);

	*ret = host_load_blank();
	ret->span_ns = span < 0 ? UNKNOWN : span;
	ret->window_ns = padded ? window_ns : ret->span_ns;
	ret->busy_ns = load_busy_ns(first, last);
	ret->own_ns = load_own_ns(first, last);
	ret->steal_ns = load_steal_ns(first, last);
	if (v.host != EM_HOST_UNAVAILABLE && span < LOAD_MIN_SPAN_NS)
		return set_reason(ret, "short-span");
	if (v.host == EM_HOST_UNAVAILABLE)
		return set_reason(ret, reason_of(first, last, v));
	ret->verdict = v.host;
	ret->foreign_cores = v.foreign;
	ret->threshold_cores = v.threshold;
	return 0;
}

int load_finish(const struct load_watch *w, const struct load_reading *last, int64_t window_ns,
		int64_t start_ns, struct host_load *ret)
{
	struct load_window newest, worst = w->worst;
	int err;

	*ret = host_load_blank();
	if (!w->begun)
		return 0;
	if (!last)
		last = &w->last;
	else
		close_window(&w->last, last, start_ns, &newest, &worst);
	err = load_judge(&w->first, last, window_ns, ret);
	ret->worst = worst;
	return err;
}
