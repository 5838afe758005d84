// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/stretch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void stretch_free(struct stretch *s)
{
	for (size_t i = 0; i < s->n_rss_at; i++)
		free(s->rss_at[i].name);
	free(s->rss_at);
	free(s->disk.path);
	free(s->name);
	free(s);
}

void stretches_free(struct stretches *all)
{
	struct stretch *s = all->first, *next;

	for (; s; s = next) {
		next = s->next;
		stretch_free(s);
	}
	*all = (struct stretches){ 0 };
}

void stretches_move(struct stretches *to, struct stretches *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	if (!to->live)
		to->live = from->live;
	to->last = from->last;
	to->n += from->n;
	to->omitted += from->omitted;
	*from = (struct stretches){ 0 };
}

void stretch_remove(struct stretches *all, struct stretch *s)
{
	struct stretch *before = NULL, *at = all->first;

	for (; at != s; at = at->next)
		before = at;
	if (before)
		before->next = s->next;
	else
		all->first = s->next;
	if (all->last == s)
		all->last = before;
	if (all->live == s)
		all->live = s->next;
	all->n--;
	stretch_free(s);
}

struct stretch *stretch_add(struct stretches *all, const char *name, size_t name_len)
{
	struct stretch *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->name = strndup(name, name_len);
	if (!s->name) {
		free(s);
		return NULL;
	}
	s->started_ns = s->ended_ns = TIME_NONE;
	s->rss_bytes = s->peak_rss_bytes = s->peak_sum_bytes = s->met_bytes = UNKNOWN;
	s->before = s->used = counters_unknown();
	s->peak_cpus = UNKNOWN;
	s->split = (struct rss_split){ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	s->split_bytes = s->max_threads = UNKNOWN;
	s->disk.apparent_bytes = s->disk.allocated_bytes = UNKNOWN;
	if (all->last)
		all->last->next = s;
	else
		all->first = s;
	all->last = s;
	if (!all->live)
		all->live = s;
	all->n++;
	return s;
}

static void raise(struct stretch *s, int64_t bytes, enum peak_source source)
{
	if (bytes <= s->peak_rss_bytes)
		return;
	s->peak_rss_bytes = bytes;
	s->source = source;
}

static void more_threads(struct stretch *s, int64_t threads)
{
	if (threads > s->max_threads)
		s->max_threads = threads;
}

int stretch_start(struct stretches *all, const char *name, size_t name_len, const struct moment *m)
{
	struct stretch *s = stretch_add(all, name, name_len);

	if (!s)
		return -ENOMEM;
	s->started_ns = m->at_ns;
	s->rss_bytes = m->rss_bytes;
	s->before = m->so_far;
	raise(s, m->rss_bytes, m->source);
	more_threads(s, m->threads);
	return 0;
}

static bool is_open(const struct stretch *s)
{
	return s->ended_ns == TIME_NONE;
}

struct stretch *stretch_open(const struct stretches *all, const char *name, size_t name_len)
{
	if (!name)
		return all->last && is_open(all->last) ? all->last : NULL;
	for (struct stretch *s = all->live; s; s = s->next)
		if (is_open(s) && strlen(s->name) == name_len && !memcmp(s->name, name, name_len))
			return s;
	return NULL;
}

/* SPEC: added up where marks were set back, else the largest seen. */
static void sum_peaks(struct stretch *s, const struct moment *m)
{
	if (s->marks_reset && m->marks_bytes >= 0) {
		s->peak_sum_bytes = m->marks_bytes + s->ended_peaks_bytes + s->earlier_bytes;
		s->sum_source = PEAK_RESET;
	}
	if (s->peak_rss_bytes > s->peak_sum_bytes) {
		s->peak_sum_bytes = s->peak_rss_bytes;
		s->sum_source = s->source;
	}
}

void stretch_end(struct stretch *s, const struct moment *m)
{
	s->ended_ns = m->at_ns;
	raise(s, m->rss_bytes, m->source);
	more_threads(s, m->threads);
	s->used = counters_since(&m->so_far, &s->before);
	sum_peaks(s, m);
}

void stretches_on_look(struct stretches *all, int64_t rss_bytes, enum peak_source source,
		       const struct scan_result *scan, int64_t threads)
{
	for (struct stretch *s = all->live; s; s = s->next) {
		if (!is_open(s))
			continue;
		raise(s, rss_bytes, source);
		more_threads(s, threads);
		if (scan && scan->complete && scan->rss_bytes > s->split_bytes) {
			s->split_bytes = scan->rss_bytes;
			s->split = scan->split;
		}
	}
}

void stretches_on_cpus(struct stretches *all, int64_t from_ns, double cpus)
{
	for (struct stretch *s = all->live; s; s = s->next)
		if (!s->settled &&
		    (is_open(s) || s->ended_ns > from_ns ||
		     (s->started_ns == s->ended_ns && s->ended_ns == from_ns)) &&
		    cpus > s->peak_cpus)
			s->peak_cpus = cpus;
}

void stretches_on_exit(struct stretches *all, int64_t born_ns, int64_t ended_ns, int64_t peak_bytes)
{
	for (struct stretch *s = all->live; s; s = s->next) {
		if (s->settled || ended_ns < s->started_ns)
			continue;
		if (!is_open(s) && ended_ns > s->ended_ns)
			continue;
		if (s->marks_reset && is_open(s) && peak_bytes > 0 &&
		    __builtin_add_overflow(s->ended_peaks_bytes, peak_bytes, &s->ended_peaks_bytes))
			s->ended_peaks_bytes = INT64_MAX;
		if (born_ns < s->started_ns)
			continue;
		raise(s, peak_bytes, PEAK_EXIT);
		if (!is_open(s) && s->peak_rss_bytes > s->peak_sum_bytes) {
			s->peak_sum_bytes = s->peak_rss_bytes;
			s->sum_source = s->source;
		}
	}
}

/* A second time adds up to an upper bound all the same. */
void stretches_on_reset(struct stretches *all, const struct moment *m, bool whole)
{
	for (struct stretch *s = all->live; s; s = s->next) {
		if (!is_open(s))
			continue;
		/*
		 * Of each the larger mark: the next ones begin at what is resident, and this one
		 * is so much above that.
		 */
		if (s->marks_reset && m->marks_bytes > m->rss_bytes && m->rss_bytes >= 0)
			s->earlier_bytes += m->marks_bytes - m->rss_bytes;
		else if (s->marks_reset && m->marks_bytes > 0 && m->rss_bytes < 0)
			s->earlier_bytes += m->marks_bytes;
		s->marks_reset |= whole;
	}
}

static int remember(struct stretch *s, const char *name, int64_t rss_bytes)
{
	struct rss_at *more;
	char *copy;

	for (size_t i = 0; i < s->n_rss_at; i++)
		if (!strcmp(s->rss_at[i].name, name)) {
			s->rss_at[i].rss_bytes = rss_bytes;
			return 0;
		}
	if (s->n_rss_at == RSS_AT_MAX)
		return -E2BIG;
	more = realloc(s->rss_at, (s->n_rss_at + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->rss_at = more;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	s->rss_at[s->n_rss_at++] = (struct rss_at){ copy, rss_bytes };
	return 0;
}

int stretches_on_phase(struct stretches *all, const char *name, int64_t rss_bytes)
{
	int err = 0, first = 0;

	for (struct stretch *s = all->live; s; s = s->next) {
		if (is_open(s))
			err = remember(s, name, rss_bytes);
		first = first ? first : err;
	}
	return first;
}

/* The oldest of the settled go; the last one stays, so that the list has an end. */
static void trim(struct stretches *all)
{
	struct stretch **at = &all->first;

	while (all->n > STRETCHES_MAX && *at != all->last) {
		struct stretch *s = *at;

		if (!s->settled) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		stretch_free(s);
		all->n--;
		all->omitted++;
	}
}

void stretches_settle(struct stretches *all, int64_t before_ns)
{
	for (struct stretch *s = all->live; s; s = s->next)
		if (!is_open(s) && s->ended_ns < before_ns)
			s->settled = true;
	while (all->live && all->live->settled)
		all->live = all->live->next;
	if (all->n > STRETCHES_MAX)
		trim(all);
}
