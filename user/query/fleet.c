// SPDX-License-Identifier: GPL-2.0-or-later
#include "query/fleet.h"

#include <stdbool.h>
#include <string.h>

static int64_t add_known(int64_t a, int64_t b)
{
	int64_t sum;

	if (a < 0 || b < 0)
		return -1;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static bool ran_at(const struct fleet_part *p, double at_s)
{
	if (p->started_s < 0)
		return true; /* nobody knows: it may have */
	return p->started_s <= at_s && (p->wall_s < 0 || at_s <= p->started_s + p->wall_s);
}

/* The most that can have been at once: that begins where one of them does. */
static int64_t most_at_once(const struct fleet_part *parts, size_t n)
{
	int64_t most = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < n; k++)
			if (k == i || ran_at(&parts[k], parts[i].started_s) ||
			    parts[i].started_s < 0)
				sum = add_known(sum, parts[k].upper_bytes);
		if (sum < 0)
			return -1;
		if (sum > most)
			most = sum;
	}
	return most;
}

static void of_host(const struct fleet_part *parts, size_t n, struct fleet_host *h)
{
	double first = -1, last = -1;

	*h = (struct fleet_host){ .host = parts->host, .parts = n, .lower_bytes = -1, .exact = 1 };
	for (size_t i = 0; i < n; i++) {
		const struct fleet_part *p = &parts[i];

		if (p->lower_bytes > h->lower_bytes)
			h->lower_bytes = p->lower_bytes;
		h->processes = add_known(h->processes, p->processes);
		h->cpu_s = h->cpu_s < 0 || p->cpu_s < 0 ? -1 : h->cpu_s + p->cpu_s;
		h->failed += p->exit_code > 0 || p->exit_signal > 0;
		if (p->exact != 1)
			h->exact = 0;
		if (p->started_s >= 0 && (first < 0 || p->started_s < first))
			first = p->started_s;
		if (p->started_s >= 0 && p->wall_s >= 0 && p->started_s + p->wall_s > last)
			last = p->started_s + p->wall_s;
	}
	h->upper_bytes = most_at_once(parts, n);
	h->wall_s = first >= 0 && last >= first ? last - first : -1;
}

size_t fleet_hosts(const struct fleet_part *parts, size_t n, struct fleet_host *hosts, size_t cap)
{
	size_t count = 0;

	for (size_t i = 0, next; i < n; i = next) {
		next = i + 1;
		while (next < n && !strcmp(parts[next].host, parts[i].host))
			next++;
		if (count < cap)
			of_host(parts + i, next - i, &hosts[count]);
		count++;
	}
	return count;
}
