// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/counters.h"
#include "model/record.h"

#include <stddef.h>

/* Each of them: the structure is nothing but these. */
#define N_COUNTERS (sizeof(struct counters) / sizeof(int64_t))

static int64_t *at(struct counters *c, size_t i)
{
	return (int64_t *)c + i;
}

static int64_t value(const struct counters *c, size_t i)
{
	return *((const int64_t *)c + i);
}

struct counters counters_unknown(void)
{
	struct counters c = { 0 };

	for (size_t i = 0; i < N_COUNTERS; i++)
		*at(&c, i) = UNKNOWN;
	return c;
}

struct counters counters_sum(const struct counters *a, const struct counters *b)
{
	struct counters c = counters_unknown();

	for (size_t i = 0; i < N_COUNTERS; i++)
		if (value(a, i) >= 0 && value(b, i) >= 0 &&
		    __builtin_add_overflow(value(a, i), value(b, i), at(&c, i)))
			*at(&c, i) = INT64_MAX;
	return c;
}

struct counters counters_since(const struct counters *later, const struct counters *earlier)
{
	struct counters c = counters_unknown();

	for (size_t i = 0; i < N_COUNTERS; i++) {
		int64_t grown = value(later, i) - value(earlier, i);

		if (value(later, i) >= 0 && value(earlier, i) >= 0)
			*at(&c, i) = grown > 0 ? grown : 0;
	}
	if (c.cpu_user_ns >= 0 && c.cpu_system_ns >= 0)
		cpu_split(c.cpu_ns, c.cpu_user_ns, c.cpu_system_ns, &c.cpu_user_ns,
			  &c.cpu_system_ns);
	return c;
}
