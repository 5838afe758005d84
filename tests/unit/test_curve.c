// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_curve - samples over time in a bounded number of points
 */
#include "model/curve.h"

#include "procfs/reading.h"
#include "tap.h"

#define CAP 8

static struct curve_point sample(int i)
{
	return (struct curve_point){ .at_ns = i,
				     .rss_bytes = i == 5 ? 1000 : i,
				     .cpu_ns = 10 * i,
				     .cpus = i == 9 ? 7.5 : 1,
				     .processes = i == 3 ? 40 : 2,
				     .threads = i == 4 ? 50 : 2,
				     .lower_bytes = 100 + i,
				     .upper_bytes = 200 + i,
				     .pss_bytes = i == 6 ? 900 : i };
}

static void add(struct curve *s, int first, int last)
{
	for (int i = first; i <= last; i++) {
		struct curve_point p = sample(i);

		curve_add(s, &p);
	}
}

static void test_coarser(void)
{
	static const struct {
		int samples;
		size_t n;
		uint64_t stride;
		int64_t last;
	} rows[] = {
		{ 1, 1, 1, 1 },   { 8, 8, 1, 8 },         { 9, 5, 2, 9 },   { 10, 5, 2, 10 },
		{ 16, 8, 2, 16 }, { 17, 5, 4, 17 },       { 32, 8, 4, 32 }, { 33, 5, 8, 33 },
		{ 64, 8, 8, 64 }, { 1000, 8, 128, 1000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct curve s;

		EQ_I(curve_init(&s, CAP), 0, "%d samples: room", rows[i].samples);
		add(&s, 1, rows[i].samples);
		EQ_I(s.n, rows[i].n, "%d samples: points", rows[i].samples);
		EQ_I(s.stride, rows[i].stride, "%d samples: stride", rows[i].samples);
		EQ_I(s.points[s.n - 1].at_ns, rows[i].last, "%d samples: up to the last",
		     rows[i].samples);
		curve_free(&s);
	}
}

/* Whatever is merged: largest values stay, totals are the last, times go up. */
static void test_nothing_lost(void)
{
	struct curve s;
	struct curve_point most = { 0 };
	bool rising = true;

	curve_init(&s, CAP);
	add(&s, 1, 777);
	for (size_t i = 0; i < s.n; i++) {
		const struct curve_point *p = &s.points[i];

		rising &= !i || p->at_ns > s.points[i - 1].at_ns;
		most.rss_bytes = p->rss_bytes > most.rss_bytes ? p->rss_bytes : most.rss_bytes;
		most.cpus = p->cpus > most.cpus ? p->cpus : most.cpus;
		most.processes = p->processes > most.processes ? p->processes : most.processes;
		most.pss_bytes = p->pss_bytes > most.pss_bytes ? p->pss_bytes : most.pss_bytes;
		most.threads = p->threads > most.threads ? p->threads : most.threads;
		EQ_I(p->cpu_ns, 10 * p->at_ns, "point %zu: CPU so far is that of its time", i);
		EQ_I(p->lower_bytes, 100 + p->at_ns, "point %zu: so is the lower bound", i);
		EQ_I(p->upper_bytes, 200 + p->at_ns, "point %zu: and the upper", i);
	}
	OK(rising, "times go up");
	EQ_I(most.rss_bytes, 1000, "the most resident");
	EQ_D(most.cpus, 7.5, 0, "the most cores");
	EQ_I(most.processes, 40, "the most processes");
	EQ_I(most.pss_bytes, 900, "the largest share");
	EQ_I(most.threads, 50, "the most threads");
	curve_free(&s);
}

static void test_unknown(void)
{
	struct curve_point blank = { .at_ns = 1,
				     .rss_bytes = UNKNOWN,
				     .cpu_ns = UNKNOWN,
				     .cpus = -1,
				     .processes = UNKNOWN,
				     .threads = UNKNOWN,
				     .lower_bytes = UNKNOWN,
				     .upper_bytes = UNKNOWN,
				     .pss_bytes = UNKNOWN };
	struct curve s;

	curve_init(&s, 2);
	curve_add(&s, &blank);
	blank.at_ns = 2;
	curve_add(&s, &blank);
	blank.at_ns = 3;
	curve_add(&s, &blank);
	EQ_I(s.n, 2, "merged");
	EQ_I(s.points[0].at_ns, 2, "two of them");
	EQ_I(s.points[0].rss_bytes, UNKNOWN, "unknown stays unknown");
	EQ_I(s.points[0].upper_bytes, UNKNOWN, "of bounds too");
	OK(s.points[0].cpus < 0, "of cores too");
	curve_free(&s);
	curve_free(&s);
}

int main(void)
{
	test_coarser();
	test_nothing_lost();
	test_unknown();
	return tap_done();
}
