// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/lookup.h"

#include <string.h>

#include "lib/cursor.h"
#include "report/json_summary.h"

#define KEY_MAX 256

static const char *const bare[] = { "usage", "run", "completeness", "source", "rusage", "env" };

struct lookup lookup_of(const struct summary *s)
{
	return (struct lookup){ .of = s };
}

static bool make(struct lookup *l)
{
	if (l->document.len)
		return true;
	json_open(&l->document);
	json_summary_members(&l->document, l->of);
	json_close(&l->document);
	return !l->document.err;
}

static bool find(struct em_cursor c, const char *path, size_t len, struct em_cursor *ret);

/* The element whose number @path begins with. */
static bool find_element(struct em_cursor c, const char *path, size_t len, struct em_cursor *ret)
{
	size_t digits = 0, number = 0;

	while (digits < len && digits < 6 && path[digits] >= '0' && path[digits] <= '9')
		number = number * 10 + (size_t)(path[digits++] - '0');
	if (!digits || (digits < len && path[digits] != '.') || !em_take(&c, '['))
		return false;
	for (; number; number--)
		if (!em_skip_value(&c) || !em_take(&c, ','))
			return false;
	if (digits == len) {
		*ret = c;
		return em_skip_value(&c);
	}
	return find(c, path + digits + 1, len - digits - 1, ret);
}

/* A name may have a dot itself, so the whole is tried before its parts. */
static bool find(struct em_cursor c, const char *path, size_t len, struct em_cursor *ret)
{
	struct em_cursor value = c;
	const char *text;
	char key[KEY_MAX];
	size_t n;

	if (!em_take(&c, '{'))
		return find_element(value, path, len, ret);
	while (em_take_string(&c, &text, &n) && em_take(&c, ':')) {
		n = em_unescape(text, n, key, sizeof(key));
		value = c;
		if (n > sizeof(key))
			n = len + 1; /* too long to be meant */
		if (n == len && !memcmp(key, path, n)) {
			*ret = value;
			return true;
		}
		if (n < len && path[n] == '.' && !memcmp(key, path, n) &&
		    find(value, path + n + 1, len - n - 1, ret))
			return true;
		if (!em_skip_value(&c) || !em_take(&c, ','))
			return false;
	}
	return false;
}

bool lookup_find(struct lookup *l, const char *name, size_t len, const char **ret, size_t *ret_len)
{
	struct em_cursor top, part, found;
	bool known;

	if (!make(l))
		return false;
	top = (struct em_cursor){ l->document.buf, l->document.buf + l->document.len };
	known = find(top, name, len, &found);
	for (size_t i = 0; !known && i < sizeof(bare) / sizeof(bare[0]); i++)
		known = find(top, bare[i], strlen(bare[i]), &part) && find(part, name, len, &found);
	if (!known)
		return false;
	top = found;
	if (!em_skip_value(&top))
		return false;
	*ret = found.at;
	*ret_len = (size_t)(top.at - found.at);
	return true;
}

void lookup_free(struct lookup *l)
{
	json_free(&l->document);
}
