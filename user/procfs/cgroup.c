// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/cgroup.h"

#include <string.h>

#include "procfs/parse_cursor.h"
#include "procfs/system.h"

/* Version 1 says the largest number of whole pages where there is no limit. */
#define MEMORY_NO_LIMIT (INT64_MAX / 2)

/* "4:cpu,cpuacct:/path": between the colons, and behind them. */
struct line {
	struct cursor controllers, path;
};

static bool next_line(struct cursor *c, struct line *ret)
{
	while (c->p < c->end) {
		const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
		const char *first, *second = NULL, *start = c->p;

		if (!newline)
			return false;
		c->p = newline + 1;
		first = memchr(start, ':', (size_t)(newline - start));
		if (first)
			second = memchr(first + 1, ':', (size_t)(newline - first - 1));
		if (!second)
			continue;
		*ret = (struct line){ { first + 1, second }, { second + 1, newline } };
		return true;
	}
	return false;
}

static bool has_controller(struct cursor list, const char *want)
{
	size_t len = strlen(want);

	if (!len)
		return list.p == list.end;
	while (list.p < list.end) {
		const char *comma = memchr(list.p, ',', (size_t)(list.end - list.p));
		size_t n = (size_t)((comma ? comma : list.end) - list.p);

		if (n == len && !memcmp(list.p, want, n))
			return true;
		list.p += n + !!comma;
	}
	return false;
}

char *cgroup_path(const char *text, size_t len, const char *controller)
{
	struct cursor c = { text, text + len };
	struct line l;

	while (next_line(&c, &l)) {
		size_t n = (size_t)(l.path.end - l.path.p);

		if (!has_controller(l.controllers, controller))
			continue;
		if (!n || *l.path.p != '/' || memchr(l.path.p, '\0', n) ||
		    (n >= 3 && !memcmp(l.path.p, "/..", 3) && (n == 3 || l.path.p[3] == '/')))
			return NULL;
		return strndup(l.path.p, n);
	}
	return NULL;
}

const char *cgroup_container(const char *text, size_t len)
{
	static const struct {
		const char *part, *name;
	} known[] = {
		{ "/libpod-", "podman" },
		{ "/kubepods", "kubernetes" },
		{ "/docker/", "docker" },
		{ "/docker-", "docker" },
		{ "/lxc/", "lxc" },
		{ "/lxc.payload", "lxc" },
		{ "/machine.slice/systemd-nspawn", "systemd-nspawn" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (memmem(text, len, known[i].part, strlen(known[i].part)))
			return known[i].name;
	return NULL;
}

/* One number and the newline. */
static bool number(const char *text, size_t len, int64_t *ret)
{
	struct cursor c = { text, text + len };

	return take_i64(&c, ret) && at(&c, '\n');
}

static double share(int64_t quota, int64_t period)
{
	return quota > 0 && period > 0 ? (double)quota / (double)period : -1;
}

double cgroup_cpu_max(const char *text, size_t len)
{
	struct cursor c = { text, text + len };
	int64_t quota, period;

	/* "max 100000" without a limit */
	if (!take_i64(&c, &quota) || !take(&c, ' ') || !take_i64(&c, &period) || !at(&c, '\n'))
		return -1;
	return share(quota, period);
}

double cgroup_cpu_quota(const char *quota, size_t quota_len, const char *period, size_t period_len)
{
	int64_t q, p;

	if (!number(quota, quota_len, &q) || !number(period, period_len, &p))
		return -1;
	return share(q, p);
}

int64_t cgroup_memory_max(const char *text, size_t len)
{
	int64_t v;

	return number(text, len, &v) && v >= 0 && v < MEMORY_NO_LIMIT ? v : -1;
}

int64_t cgroup_count(const char *text, size_t len, const char *key)
{
	const size_t key_len = strlen(key);
	const char *end = text + len, *newline;
	int64_t v;

	for (const char *p = text; p < end; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline)
			return -1;
		if ((size_t)(newline - p) <= key_len || memcmp(p, key, key_len) != 0 ||
		    p[key_len] != ' ')
			continue;
		p += key_len + 1;
		return number_parse(p, (size_t)(newline + 1 - p), &v) ? -1 : v;
	}
	return -1;
}

bool cgroup_has_word(const char *text, size_t len, const char *word)
{
	const size_t word_len = strlen(word);
	const char *end = text + len, *p = text, *start;

	while (p < end) {
		for (start = p; p < end && *p != ' ' && *p != '\n'; p++)
			;
		if ((size_t)(p - start) == word_len && !memcmp(start, word, word_len))
			return true;
		p++;
	}
	return false;
}
