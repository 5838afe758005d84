// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sink_fail(struct sink *s, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->why, sizeof(s->why), format, args);
	va_end(args);
	s->why[strcspn(s->why, "\n")] = '\0';
	return err;
}

int sink_begin(struct sink *s, const struct part *p)
{
	return s->ops->begin(s, p);
}

int sink_row(struct sink *s, enum table_id table, int64_t split, const struct row *r)
{
	return s->ops->row(s, table, split, r);
}

int sink_commit(struct sink *s, int64_t lines, bool whole)
{
	return s->ops->commit(s, lines, whole);
}

void sink_rollback(struct sink *s)
{
	s->ops->rollback(s);
}

bool sink_takes_ended(const struct sink *s)
{
	return s->ops->ended;
}

int sink_ended(struct sink *s, const struct ended *x, int64_t *ret_written)
{
	return s->ops->ended(s, x, ret_written);
}

void sink_close(struct sink *s)
{
	if (s)
		s->ops->close(s);
}
