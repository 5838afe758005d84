// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/accept.h"

#include <string.h>
#include <strings.h>

struct span {
	const char *at, *end;
};

static struct span trimmed(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct span){ at, end };
}

/* The next part before @separator or the end; *@rest is behind it, NULL at the end. */
static struct span part(const char **rest, const char *end, char separator)
{
	const char *at = *rest, *to = memchr(at, separator, (size_t)(end - at));

	*rest = to ? to + 1 : NULL;
	return trimmed(at, to ? to : end);
}

static bool is(struct span s, const char *word)
{
	return (size_t)(s.end - s.at) == strlen(word) &&
	       !strncasecmp(s.at, word, (size_t)(s.end - s.at));
}

/* "q=0.75" in thousandths; 1000 for what is no q, 0 for one that is malformed. */
static int quality_of(struct span s)
{
	int v = 0, digits = 0;

	if (s.end - s.at < 2 || (*s.at != 'q' && *s.at != 'Q') || s.at[1] != '=')
		return 1000;
	s = trimmed(s.at + 2, s.end);
	if (s.at == s.end || (*s.at != '0' && *s.at != '1'))
		return 0;
	v = (*s.at++ - '0') * 1000;
	if (s.at < s.end && *s.at++ != '.')
		return 0;
	for (int unit = 100; s.at < s.end && digits < 3; unit /= 10, digits++, s.at++) {
		if (*s.at < '0' || *s.at > '9')
			return 0;
		v += (*s.at - '0') * unit;
	}
	return s.at == s.end && v <= 1000 ? v : 0;
}

/* How much @type is wanted, -1 where it is not named; a version that is not ours is another type.
 */
static int wanted(const char *accept, const char *type, const char *version)
{
	const char *end = accept + strlen(accept);
	int best = -1;

	for (const char *range = accept; range;) {
		struct span one = part(&range, end, ',');
		const char *parameter = one.at;
		bool ours = is(part(&parameter, one.end, ';'), type);
		int q = 1000;

		while (parameter) {
			struct span p = part(&parameter, one.end, ';');
			int this = quality_of(p);

			q = this < q ? this : q;
			if (p.end - p.at > 8 && !strncasecmp(p.at, "version=", 8))
				ours &= is((struct span){ p.at + 8, p.end }, version);
		}
		if (ours && q > best)
			best = q;
	}
	return best;
}

bool accept_openmetrics(const char *accept)
{
	int open, plain;

	if (!accept)
		return false;
	open = wanted(accept, "application/openmetrics-text", "1.0.0");
	plain = wanted(accept, "text/plain", "0.0.4");
	return open > 0 && open >= plain;
}
