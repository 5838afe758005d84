// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/system.h"

#include <errno.h>
#include <string.h>

#include "procfs/parse_cursor.h"
#include "units.h"

#define WORD_MAX  64
#define MODEL_MAX 256

static bool take_text(struct cursor *c, const char *want)
{
	size_t len = strlen(want);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, want, len) != 0)
		return false;
	c->p += len;
	return true;
}

static bool take_line(struct cursor *c, struct cursor *ret_line)
{
	const char *newline = c->p < c->end ? memchr(c->p, '\n', (size_t)(c->end - c->p)) : NULL;

	if (!newline)
		return false;
	*ret_line = (struct cursor){ c->p, newline };
	c->p = newline + 1;
	return true;
}

/* "3.07": both parts are exact in a double, and so their quotient is the nearest one. */
static bool take_load(struct cursor *c, double *ret)
{
	uint64_t whole, hundredths;
	const char *digits;

	if (!take_u64(c, &whole) || !take(c, '.'))
		return false;
	digits = c->p;
	if (!take_u64(c, &hundredths) || c->p - digits != 2 || whole > UINT32_MAX)
		return false;
	*ret = (double)(whole * 100 + hundredths) / 100;
	return true;
}

int loadavg_parse(const char *text, size_t len, double ret[3])
{
	struct cursor c = { text, text + len };
	double load[3];

	for (int i = 0; i < 3; i++)
		if (!take_load(&c, &load[i]) || !take(&c, ' '))
			return -EBADMSG;
	memcpy(ret, load, sizeof(load));
	return 0;
}

enum {
	TICKS_USER,
	TICKS_NICE,
	TICKS_SYSTEM,
	TICKS_IDLE,
	TICKS_IOWAIT,
	TICKS_IRQ,
	TICKS_SOFTIRQ,
	TICKS_STEAL,
	TICKS_FIELDS
};

int cpu_ticks_parse(const char *text, size_t len, struct cpu_ticks *ret)
{
	struct cursor c = { text, text + len };
	int64_t busy = 0;
	uint64_t v = 0;

	if (!take_text(&c, "cpu "))
		return -EBADMSG;
	for (int field = TICKS_USER; field < TICKS_FIELDS; field++) {
		while (take(&c, ' '))
			;
		if (!take_u64(&c, &v) || v > INT64_MAX)
			return -EBADMSG;
		if (field != TICKS_IDLE && field != TICKS_IOWAIT && field != TICKS_STEAL &&
		    __builtin_add_overflow(busy, (int64_t)v, &busy))
			return -EBADMSG;
	}
	if (!at_delimiter(&c))
		return -EBADMSG;
	*ret = (struct cpu_ticks){ .busy = busy, .steal = (int64_t)v };
	return 0;
}

int memtotal_parse(const char *text, size_t len, int64_t *ret_bytes)
{
	struct cursor c = { text, text + len }, line;
	int64_t v;

	while (take_line(&c, &line)) {
		if (!take_text(&line, "MemTotal:"))
			continue;
		while (take(&line, ' '))
			;
		if (!take_i64(&line, &v) || v < 0 || !take_text(&line, " kB") ||
		    __builtin_mul_overflow(v, 1024, &v))
			return -EBADMSG;
		*ret_bytes = v;
		return 0;
	}
	return -EBADMSG;
}

static void trim(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
	while (c->p < c->end && (c->end[-1] == ' ' || c->end[-1] == '\t'))
		c->end--;
}

char *cpu_model_parse(const char *text, size_t len)
{
	/* x86, MIPS, POWER; Loongson writes it with a capital, arm64 has none. */
	static const char *const keys[] = { "model name", "Model Name", "cpu model", "cpu" };
	struct cursor c = { text, text + len }, line;

	while (take_line(&c, &line)) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			struct cursor v = line;

			if (!take_text(&v, keys[i]))
				continue;
			trim(&v);
			if (!take(&v, ':'))
				continue;
			trim(&v);
			if (v.p < v.end && v.end - v.p <= MODEL_MAX)
				return strndup(v.p, (size_t)(v.end - v.p));
		}
	}
	return NULL;
}

static bool pressure_line(struct cursor line, int64_t *ret_ns)
{
	static const char key[] = " total=";
	const char *total = memmem(line.p, (size_t)(line.end - line.p), key, sizeof(key) - 1);
	int64_t us;

	if (!total)
		return false;
	line.p = total + sizeof(key) - 1;
	return take_i64(&line, &us) && us >= 0 && line.p == line.end &&
	       !__builtin_mul_overflow(us, NS_PER_US, ret_ns);
}

int pressure_parse(const char *text, size_t len, int64_t *ret_some_ns, int64_t *ret_full_ns)
{
	struct cursor c = { text, text + len }, line;
	int64_t some = -1, full = -1;

	while (take_line(&c, &line)) {
		if (take_text(&line, "some")) {
			if (!pressure_line(line, &some))
				return -EBADMSG;
		} else if (take_text(&line, "full")) {
			if (!pressure_line(line, &full))
				return -EBADMSG;
		}
	}
	if (some < 0 && full < 0)
		return -EBADMSG;
	*ret_some_ns = some;
	*ret_full_ns = full;
	return 0;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

char *word_parse(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && is_word(text[n]))
		n++;
	return n && n <= WORD_MAX ? strndup(text, n) : NULL;
}

char *choice_parse(const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *close;

	if (!open)
		return NULL;
	open++;
	close = memchr(open, ']', len - (size_t)(open - text));
	return close && close > open ? strndup(open, (size_t)(close - open)) : NULL;
}

int number_parse(const char *text, size_t len, int64_t *ret)
{
	struct cursor c = { text, text + len };
	int64_t v;

	if (!take_i64(&c, &v) || !at(&c, '\n') || c.p + 1 != c.end || v < 0)
		return -EBADMSG;
	*ret = v;
	return 0;
}
