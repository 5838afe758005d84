// SPDX-License-Identifier: GPL-2.0-or-later
#include "procfs/reading.h"

const struct io_counts io_unknown = {
	UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
};

int64_t count_add(int64_t sum, int64_t more)
{
	return sum < 0 || more < 0 ? UNKNOWN : sum + more;
}

int64_t count_since(int64_t now, int64_t before)
{
	return now < 0 || before < 0 ? UNKNOWN : now - before;
}

static void each(struct io_counts *to, const struct io_counts *from,
		 int64_t (*combine)(int64_t a, int64_t b))
{
	to->read_bytes = combine(to->read_bytes, from->read_bytes);
	to->write_bytes = combine(to->write_bytes, from->write_bytes);
	to->cancelled_write_bytes = combine(to->cancelled_write_bytes, from->cancelled_write_bytes);
	to->rchar = combine(to->rchar, from->rchar);
	to->wchar = combine(to->wchar, from->wchar);
	to->syscr = combine(to->syscr, from->syscr);
	to->syscw = combine(to->syscw, from->syscw);
}

void io_add(struct io_counts *sum, const struct io_counts *more)
{
	each(sum, more, count_add);
}

void io_subtract(struct io_counts *now, const struct io_counts *before)
{
	each(now, before, count_since);
}
