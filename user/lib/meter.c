// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * meter - a tree's memory and CPU over time, in at most 1024 marks (SPEC 1.5 to 1.7)
 */
#include "lib/meter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Forgives the rounding of "exactly min_sample_s later" in doubles. */
#define SLACK_S 1e-9

/* @b when @a is NaN or infinite, so that one bad reading cannot poison the marks. */
static double max_double(double a, double b)
{
	return isfinite(a) && a > b ? a : b;
}

static struct em_mark merge(const struct em_mark *a, const struct em_mark *b)
{
	return (struct em_mark){
		.at = b->at,
		.rss = a->rss > b->rss ? a->rss : b->rss,
		.cpu = b->cpu,
		.cpus = max_double(b->cpus, a->cpus),
	};
}

int em_meter_init(struct em_meter *m, double now, double min_sample_s, size_t cap)
{
	*m = (struct em_meter){
		.cap = cap < 4 ? 4 : cap,
		.stride = 1,
		.max_rss = -1,
		.min_sample_s = min_sample_s,
		.last_at = now,
	};
	m->marks = calloc(m->cap, sizeof(*m->marks));
	m->samples = calloc(m->cap, sizeof(*m->samples));
	if (!m->marks || !m->samples) {
		em_meter_clear(m);
		return -ENOMEM;
	}
	m->marks[m->n++] = (struct em_mark){ .at = now, .rss = -1, .cpu = 0, .cpus = -1 };
	return 0;
}

void em_meter_clear(struct em_meter *m)
{
	if (!m)
		return;
	free(m->marks);
	free(m->samples);
	*m = (struct em_meter){ .ended = true };
}

/* Merges marks 1+2, 3+4, ...: never the start; an odd last one stays (U-53, U-55). */
static void compact(struct em_meter *m)
{
	size_t kept = 1;

	for (size_t i = 1; i < m->n; i += 2) {
		if (i + 1 < m->n) {
			m->marks[kept] = merge(&m->marks[i], &m->marks[i + 1]);
			m->samples[kept] = m->samples[i] + m->samples[i + 1];
		} else {
			m->marks[kept] = m->marks[i];
			m->samples[kept] = m->samples[i];
		}
		kept++;
	}
	m->n = kept;
	m->stride *= 2;
}

static bool tail_has_room(const struct em_meter *m)
{
	return m->n > 1 && m->samples[m->n - 1] < m->stride;
}

/* One sample or reading: folded into the tail mark or appended, so that a place stays free. */
static void add(struct em_meter *m, const struct em_mark *mark)
{
	if (!tail_has_room(m) && m->n + 1 >= m->cap)
		compact(m);
	if (tail_has_room(m)) {
		m->marks[m->n - 1] = merge(&m->marks[m->n - 1], mark);
		m->samples[m->n - 1]++;
		return;
	}
	m->marks[m->n] = *mark;
	m->samples[m->n] = 1;
	m->n++;
}

/* Raised to the tail's time and CPU, which never go down (U-14). */
static struct em_mark next_mark(const struct em_meter *m, int64_t rss, double cpu, double now)
{
	const struct em_mark *tail = &m->marks[m->n - 1];
	double elapsed = now - m->last_at;
	struct em_mark mark = {
		.at = max_double(now, tail->at),
		.rss = rss,
		.cpu = max_double(cpu, tail->cpu),
		.cpus = -1,
	};

	if (elapsed > 0 && elapsed >= m->min_sample_s - SLACK_S)
		mark.cpus = (mark.cpu - m->last_cpu) / elapsed;
	return mark;
}

bool em_meter_sample(struct em_meter *m, int64_t rss, double cpu, double now)
{
	struct em_mark mark;

	if (m->ended || (m->sampled && now - m->last_at < m->min_sample_s - SLACK_S))
		return false;
	mark = next_mark(m, rss, cpu, now);
	add(m, &mark);
	m->sampled = true;
	m->last_at = now;
	m->last_cpu = mark.cpu;
	m->last_cpus = mark.cpus;
	return true;
}

void em_meter_reading(struct em_meter *m, int64_t rss, double cpu, double now)
{
	struct em_mark mark;

	if (m->ended)
		return;
	mark = next_mark(m, rss, cpu, now);
	add(m, &mark);
	m->last_cpus = mark.cpus;
}

void em_meter_memory(struct em_meter *m, int64_t rss, double now)
{
	struct em_mark mark;

	if (m->ended)
		return;
	mark = next_mark(m, rss, m->last_cpu, now);
	mark.cpus = -1;
	add(m, &mark);
	m->last_cpus = -1;
}

void em_meter_end(struct em_meter *m, int64_t max_rss, double cpu, double now)
{
	struct em_mark mark;

	if (m->ended)
		return;
	mark = next_mark(m, -1, cpu, now);
	mark.cpus = -1; /* U-48 */
	m->marks[m->n] = mark;
	m->samples[m->n] = 0;
	m->n++;
	m->max_rss = max_rss;
	m->ended = true;
}

size_t em_meter_aged(const struct em_meter *m, double now, struct em_mark *out, size_t cap)
{
	size_t n = m->n < cap ? m->n : cap;

	for (size_t i = 0; i < n; i++) {
		out[i] = m->marks[i];
		out[i].at = now - m->marks[i].at;
	}
	return n;
}

double em_meter_peak_cpus(const struct em_meter *m)
{
	double peak = -1;

	for (size_t i = 0; i < m->n; i++)
		peak = max_double(m->marks[i].cpus, peak);
	return peak;
}

int64_t em_meter_max_rss(const struct em_meter *m)
{
	return m->max_rss;
}

double em_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

em_meter *em_meter_new(double now, double min_sample_seconds)
{
	em_meter *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	if (min_sample_seconds < 0)
		min_sample_seconds = EM_MIN_SAMPLE_SECONDS;
	if (em_meter_init(m, now < 0 ? em_now() : now, min_sample_seconds, EM_MAX_MARKS)) {
		free(m);
		return NULL;
	}
	return m;
}

em_meter *em_meter_copy(const em_meter *m)
{
	em_meter *copy = m ? malloc(sizeof(*copy)) : NULL;
	struct em_meter fresh;

	if (!copy)
		return NULL;
	if (em_meter_init(&fresh, 0, 0, m->cap)) {
		free(copy);
		return NULL;
	}
	memcpy(fresh.marks, m->marks, m->n * sizeof(*m->marks));
	memcpy(fresh.samples, m->samples, m->n * sizeof(*m->samples));
	*copy = *m;
	copy->marks = fresh.marks;
	copy->samples = fresh.samples;
	return copy;
}

void em_meter_free(em_meter *m)
{
	em_meter_clear(m);
	free(m);
}
