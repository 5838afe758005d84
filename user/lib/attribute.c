// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * attribute - a meter's marks shared out among attempts (SPEC 1.8, 1.9, 1.17)
 *
 * Marks and spans hold ages; here times run forward: t = -age.
 */
#include "lib/exitmeter.h"

#include <math.h>

#define NOTHING_SHORTER 1e-9 /* U-79: what a span without length is taken for */

static const struct em_usage unknown = { -1, -1, -1 };

struct marks {
	const struct em_mark *at;
	size_t n;
	const struct em_exit *exits;
	size_t n_exits;
};

static double time_of(const struct marks *f, size_t i)
{
	return -f->at[i].at;
}

static double first_time(const struct marks *f)
{
	return time_of(f, 0);
}

static double last_time(const struct marks *f)
{
	return time_of(f, f->n - 1);
}

static bool sampled(const struct marks *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->at[i].rss >= 0)
			return true;
	return false;
}

/* How much of [from, to] is over at @t: a life without length is over at its end. */
static double share_until(double t, double from, double to)
{
	if (t >= to)
		return 1;
	return t <= from ? 0 : (t - from) / (to - from);
}

/*
 * CPU of the processes that lived wholly in [@from, @to]: all of it, and in *@ret_until what of it
 * lies before @t.
 */
static double lived_between(const struct marks *f, double from, double to, double t,
			    double *ret_until)
{
	double all = 0;

	*ret_until = 0;
	for (size_t i = 0; i < f->n_exits; i++) {
		const struct em_exit *x = &f->exits[i];

		if (!(x->cpu > 0) || !isfinite(x->cpu) || !(-x->started >= from) ||
		    !(-x->ended <= to) || !(x->started >= x->ended))
			continue;
		all += x->cpu;
		*ret_until += x->cpu * share_until(t, -x->started, -x->ended);
	}
	return all;
}

/* The meter's CPU at @t (U-72; U-132 where exits are known). */
static double cpu_at(const struct marks *f, double t)
{
	double known, until, linear, step;
	size_t low = 0, high = f->n - 1;

	if (t <= first_time(f))
		return f->at[0].cpu;
	if (t >= last_time(f))
		return f->at[high].cpu;
	/* time_of(low) < t <= time_of(high) */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (time_of(f, middle) < t)
			low = middle;
		else
			high = middle;
	}
	if (t >= time_of(f, high) || time_of(f, high) <= time_of(f, low))
		return f->at[high].cpu;
	linear = (t - time_of(f, low)) / (time_of(f, high) - time_of(f, low));
	step = f->at[high].cpu - f->at[low].cpu;
	known = lived_between(f, time_of(f, low), time_of(f, high), t, &until);
	/* More than the meter saw: each less by as much, so that the sum stays. */
	if (known > 0 && known > step)
		return f->at[low].cpu + step * (until / known);
	return f->at[low].cpu + until + (step - known) * linear;
}

/* U-70, U-78. */
static int64_t sampled_peak(const struct marks *f, double s, double e)
{
	int64_t peak = -1;

	for (size_t i = 0; i < f->n; i++) {
		double t = time_of(f, i);

		if (t > e) {
			if (peak >= 0)
				break;
			if (f->at[i].rss >= 0)
				return f->at[i].rss;
		} else if (t >= s && f->at[i].rss > peak) {
			peak = f->at[i].rss;
		}
	}
	return peak;
}

/* U-73, U-79. */
static double busiest(const struct marks *f, double s, double e)
{
	double end = fmax(e, s + NOTHING_SHORTER), most = -1;

	for (size_t i = 1; i < f->n; i++)
		if (time_of(f, i - 1) < end && time_of(f, i) > s && f->at[i].cpus > most)
			most = f->at[i].cpus;
	return most;
}

/* U-130: who lived inside; of the only span's also who was there for a part of it. */
static int64_t exits_peak(const struct marks *f, double s, double e, bool only)
{
	int64_t peak = -1;

	for (size_t i = 0; i < f->n_exits; i++) {
		double from = -f->exits[i].started, to = -f->exits[i].ended;
		bool counts = only ? from <= e && to >= s : from >= s && to <= e;

		if (counts && from <= to && f->exits[i].peak_rss > peak)
			peak = f->exits[i].peak_rss;
	}
	return peak;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct em_usage of_span(const struct marks *f, int64_t max_rss, const struct em_span *span,
			       bool only, bool has_samples)
{
	struct em_usage u = unknown;
	double s, e;

	if (!f->n || isnan(span->started) || isnan(span->ended))
		return unknown;
	s = fmax(-span->started, first_time(f));
	e = span->ended == -1 ? last_time(f) : fmin(-span->ended, last_time(f));
	if (!has_samples && only) {
		/* U-80: whatever its times are. */
		u.peak_rss_bytes = larger(max_rss, exits_peak(f, s, e, true));
		u.cpu_seconds = f->at[f->n - 1].cpu;
		return u;
	}
	if (e < s)
		return unknown;
	u.peak_rss_bytes = exits_peak(f, s, e, only);
	if (!has_samples)
		return u;
	u.peak_rss_bytes = larger(u.peak_rss_bytes, sampled_peak(f, s, e));
	if (only)
		u.peak_rss_bytes = larger(u.peak_rss_bytes, max_rss);
	u.cpu_seconds = fmax(cpu_at(f, e) - cpu_at(f, s), 0); /* no less by rounding */
	u.peak_cpus = busiest(f, s, e);
	return u;
}

void em_attribute_exits(const struct em_mark *aged, size_t n, int64_t max_rss,
			const struct em_exit *exits, size_t k, const struct em_span *spans,
			size_t m, struct em_usage *out)
{
	const struct marks f = { aged, n, exits, k };
	bool has_samples = sampled(&f);

	for (size_t i = 0; i < m; i++)
		out[i] = of_span(&f, max_rss < 0 ? -1 : max_rss, &spans[i], m == 1, has_samples);
}

void em_attribute(const struct em_mark *aged, size_t n, int64_t max_rss,
		  const struct em_span *spans, size_t m, struct em_usage *out)
{
	em_attribute_exits(aged, n, max_rss, NULL, 0, spans, m, out);
}
