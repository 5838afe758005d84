// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/power.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "procfs/parse_cursor.h"
#include "procfs/system.h"

#define CPU_MOST (1 << 20)

static bool at_end(struct cursor *c)
{
	return take(c, '\n') && c->p == c->end;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int power_event_parse(const char *text, size_t len, uint64_t *ret)
{
	static const char before[] = "event=0x";
	const size_t n = sizeof(before) - 1;
	struct cursor c = { text, text + len };
	uint64_t v = 0;

	if (len <= n || memcmp(text, before, n) != 0 || hex_digit(text[n]) < 0)
		return -EBADMSG;
	for (c.p += n; c.p < c.end && hex_digit(*c.p) >= 0; c.p++) {
		if (v >> 60)
			return -EBADMSG;
		v = v << 4 | (uint64_t)hex_digit(*c.p);
	}
	if (!at_end(&c))
		return -EBADMSG;
	*ret = v;
	return 0;
}

int power_scale_parse(const char *text, size_t len, double *ret)
{
	bool integer;
	size_t n = em_number_len(text, len, &integer);
	struct cursor c = { text + n, text + len };
	double v;

	if (!n || !at_end(&c) || !em_number_double(text, n, &v) || !(v > 0) || !isfinite(v))
		return -EBADMSG;
	*ret = v;
	return 0;
}

int power_cpus_parse(const char *text, size_t len, int *cpus, size_t cap, size_t *ret_n)
{
	struct cursor c = { text, text + len };
	size_t n = 0;

	do {
		uint64_t first, last;

		if (!take_u64(&c, &first))
			return -EBADMSG;
		last = first;
		if (take(&c, '-') && !take_u64(&c, &last))
			return -EBADMSG;
		if (last < first || last > CPU_MOST)
			return -EBADMSG;
		for (; first <= last && n < cap; first++)
			cpus[n++] = (int)first;
	} while (take(&c, ','));
	if (!at_end(&c))
		return -EBADMSG;
	*ret_n = n;
	return 0;
}

char *power_name_parse(const char *text, size_t len)
{
	char *name = word_parse(text, len);

	if (name && strlen(name) + 1 == len && text[len - 1] == '\n')
		return name;
	free(name);
	return NULL;
}

struct power_zone power_zone_of(const char *name, bool top)
{
	static const struct {
		const char *name;
		bool begins, top;
		struct power_zone zone;
	} known[] = {
		{ "package-",
		  true,
		  true,
		  { "the whole CPU socket: all processes, idle power included; not cards, disks, "
		    "mostly "
		    "not memory",
		    false } },
		{ "psys",
		  false,
		  true,
		  { "the platform with its sockets: all processes, idle power included", false } },
		{ "dram",
		  false,
		  false,
		  { "the memory of the socket: all processes; not in its package", false } },
		{ "core",
		  false,
		  false,
		  { "the cores of the socket: all processes; in its package", true } },
		{ "uncore",
		  false,
		  false,
		  { "the socket beside its cores, often graphics: all processes; in its package",
		    true } },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].top == top &&
		    (known[i].begins ? !strncmp(name, known[i].name, strlen(known[i].name))
				     : !strcmp(name, known[i].name)))
			return known[i].zone;
	return (struct power_zone){ "as its name says: all processes", true };
}
