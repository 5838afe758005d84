// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/mountinfo.h"

#include <stdlib.h>
#include <string.h>

#include "procfs/parse_cursor.h"

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The next byte of @e, taken off it. */
static unsigned char next_byte(struct escaped *e)
{
	const char *p = e->at;
	size_t taken = 1;
	unsigned char c = (unsigned char)*p;

	if (c == '\\' && e->len >= 4 && p[1] <= '3' && is_octal(p[1]) && is_octal(p[2]) &&
	    is_octal(p[3])) {
		c = (unsigned char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
		taken = 4;
	}
	e->at += taken;
	e->len -= taken;
	return c;
}

char *mountinfo_plain(struct escaped from)
{
	char *plain = malloc(from.len + 1);
	size_t n = 0;

	while (plain && from.len)
		plain[n++] = (char)next_byte(&from);
	if (!plain)
		return NULL;
	plain[n] = '\0';
	if (strlen(plain) == n)
		return plain;
	free(plain);
	return NULL;
}

const char *mountinfo_below(const char *path, struct escaped top)
{
	const char *p = path;
	bool slash = false;

	while (top.len) {
		unsigned char c = next_byte(&top);

		slash = c == '/';
		/* The root alone ends with one: what is below it keeps its own. */
		if (slash && !top.len && p == path)
			break;
		if ((unsigned char)*p != c || !c)
			return NULL;
		p++;
	}
	return !*p || *p == '/' ? p : NULL;
}

/* --- lines --------------------------------------------------------------------------------- */

static bool take_word(struct cursor *c, struct escaped *ret)
{
	const char *start = c->p;

	while (c->p < c->end && *c->p != ' ')
		c->p++;
	if (ret)
		*ret = (struct escaped){ start, (size_t)(c->p - start) };
	return c->p > start && (take(c, ' ') || c->p == c->end);
}

/* "36 35 98:0 /root /point options tags... - type source options" */
static bool line_parse(struct cursor c, struct mount *ret)
{
	struct escaped word;
	struct mount m;

	if (!take_u64(&c, &m.id) || !take(&c, ' ') || !take_u64(&c, &m.parent) || !take(&c, ' ') ||
	    !take_word(&c, NULL) || !take_word(&c, &m.root) || !take_word(&c, &m.point) ||
	    !take_word(&c, NULL))
		return false;
	do {
		if (!take_word(&c, &word))
			return false;
	} while (word.len != 1 || *word.at != '-');
	if (!take_word(&c, &m.type))
		return false;
	/* A source may be empty: two spaces. */
	while (c.p < c.end && *c.p != ' ')
		c.p++;
	if (!take(&c, ' '))
		return false;
	m.options = (struct escaped){ c.p, (size_t)(c.end - c.p) };
	*ret = m;
	return true;
}

/* The next line that is one of a mount; false at the end. */
static bool next_mount(struct cursor *c, struct mount *ret)
{
	while (c->p < c->end) {
		const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
		struct cursor line = { c->p, newline };

		if (!newline)
			return false;
		c->p = newline + 1;
		if (line_parse(line, ret))
			return true;
	}
	return false;
}

/* --- which mount --------------------------------------------------------------------------- */

static bool listed(const char *text, size_t len, uint64_t id)
{
	struct cursor c = { text, text + len };
	struct mount m;

	while (next_mount(&c, &m))
		if (m.id == id)
			return true;
	return false;
}

/* How much of @path leads to @m's mount point; -1: it is not below that. */
static ptrdiff_t reach(const char *path, const struct mount *m)
{
	const char *rest = mountinfo_below(path, m->point);

	return rest ? rest - path : -1;
}

/*
 * The next mount on the way to @path: of those on @above (NULL: on none that is listed) the nearest
 * one.  What is mounted there hides mounts further down that are @above's as well.
 */
static bool step(const char *text, size_t len, const char *path, const struct mount *above,
		 struct mount *ret)
{
	struct cursor c = { text, text + len };
	ptrdiff_t from = above ? reach(path, above) : 0, nearest = -1;
	struct mount m;

	while (next_mount(&c, &m)) {
		ptrdiff_t at = reach(path, &m);

		if (at < from || (nearest >= 0 && at >= nearest))
			continue;
		if (above ? m.parent != above->id || m.id == above->id
			  : m.parent != m.id && listed(text, len, m.parent))
			continue;
		nearest = at;
		*ret = m;
	}
	return nearest >= 0;
}

bool mountinfo_find(const char *text, size_t len, const char *path, struct mount *ret)
{
	size_t lines = 1;
	struct mount m;

	if (*path != '/' || !step(text, len, path, NULL, &m))
		return false;
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	/* Ids that lead in a circle are not the kernel's. */
	while (lines-- && step(text, len, path, &m, ret))
		m = *ret;
	*ret = m;
	return true;
}

static bool has_option(struct escaped options, const char *want)
{
	size_t len = strlen(want);
	const char *p = options.at, *end = p + options.len;

	if (!len)
		return true;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t n = (size_t)((comma ? comma : end) - p);

		if (n == len && !memcmp(p, want, n))
			return true;
		p += n + 1;
	}
	return false;
}

bool mountinfo_of_type(const char *text, size_t len, const char *type, const char *option,
		       struct mount *ret)
{
	struct cursor c = { text, text + len };
	struct mount m;

	while (next_mount(&c, &m)) {
		if (m.type.len != strlen(type) || memcmp(m.type.at, type, m.type.len) != 0 ||
		    !has_option(m.options, option))
			continue;
		*ret = m;
		return true;
	}
	return false;
}
