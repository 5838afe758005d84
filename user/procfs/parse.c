// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse - stat, statm and schedstat: one line of fields
 */
#include "procfs/parse.h"

#include <errno.h>
#include <string.h>

#include "procfs/parse_cursor.h"

/* A process id. */
static bool take_pid(struct cursor *c, int32_t *ret)
{
	uint64_t v;

	if (!take_u64(c, &v) || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

static bool take_word(struct cursor *c)
{
	const char *start = c->p;

	while (c->p < c->end && *c->p != ' ' && *c->p != '\n')
		c->p++;
	return c->p > start;
}

/* @c stands behind the name; fields by their number in proc(5). */
static bool stat_fields(struct cursor *c, struct proc_stat *st)
{
	bool good = take(c, ' ') && take_state(c, &st->state);

	for (int field = 4; good && field <= 22; field++) {
		if (!take(c, ' '))
			return false;
		switch (field) {
		case 4:
			good = take_pid(c, &st->ppid);
			break;
		case 9:
			good = take_u64(c, &st->flags);
			break;
		case 10:
			good = take_u64(c, &st->minor_faults);
			break;
		case 12:
			good = take_u64(c, &st->major_faults);
			break;
		case 14:
			good = take_u64(c, &st->utime_ticks);
			break;
		case 15:
			good = take_u64(c, &st->stime_ticks);
			break;
		case 16:
			good = take_i64(c, &st->cutime_ticks);
			break;
		case 17:
			good = take_i64(c, &st->cstime_ticks);
			break;
		case 20:
			good = take_i64(c, &st->threads);
			break;
		case 22:
			good = take_u64(c, &st->start_ticks);
			break;
		default:
			good = take_word(c);
		}
	}
	return good && at_delimiter(c);
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret)
{
	struct cursor c = { text, text + len };
	struct proc_stat st = { 0 };
	const char *close = c.end;
	size_t name_len;

	if (!take_pid(&c, &st.pid) || !take(&c, ' ') || !take(&c, '('))
		return -EBADMSG;
	while (close > c.p && close[-1] != ')')
		close--;
	if (close == c.p)
		return -EBADMSG;
	name_len = (size_t)(close - 1 - c.p);
	if (name_len >= sizeof(st.comm))
		name_len = sizeof(st.comm) - 1;
	memcpy(st.comm, c.p, name_len);
	c.p = close;
	if (!stat_fields(&c, &st))
		return -EBADMSG;
	*ret = st;
	return 0;
}

/* @n numbers with one space between. */
static bool numbers_parse(const char *text, size_t len, uint64_t *ret, size_t n)
{
	struct cursor c = { text, text + len };

	for (size_t i = 0; i < n; i++) {
		if ((i && !take(&c, ' ')) || !take_u64(&c, &ret[i]))
			return false;
	}
	return at_delimiter(&c);
}

int proc_statm_parse(const char *text, size_t len, struct proc_statm *ret)
{
	uint64_t v[3];

	if (!numbers_parse(text, len, v, 3))
		return -EBADMSG;
	*ret = (struct proc_statm){ v[0], v[1], v[2] };
	return 0;
}

int proc_schedstat_parse(const char *text, size_t len, struct proc_schedstat *ret)
{
	uint64_t v[3];

	if (!numbers_parse(text, len, v, 3))
		return -EBADMSG;
	*ret = (struct proc_schedstat){ v[0], v[1], v[2] };
	return 0;
}
