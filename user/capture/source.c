// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source.h"

#include <errno.h>
#include <string.h>

#include "model/summary.h"
#include "units.h"

int source_drain(struct source *s)
{
	return s->ops->drain(s);
}

int source_sample(struct source *s, struct tree_sample *ret)
{
	return s->ops->sample(s, ret);
}

int source_finish(struct source *s, bool root_ended, struct totals *ret)
{
	return s->ops->finish(s, root_ended, ret);
}

int source_poll_fd(struct source *s)
{
	return s->ops->poll_fd(s);
}

int source_poll_ms(struct source *s)
{
	return s->ops->poll_ms(s);
}

size_t source_losses(struct source *s, struct loss *out, size_t cap)
{
	return s->ops->losses(s, out, cap);
}

void source_ending(struct source *s, pid_t pid)
{
	if (s->ops->ending)
		s->ops->ending(s, pid);
}

void source_reaped(struct source *s, pid_t pid, int status, const struct rusage *ru)
{
	s->ops->reaped(s, pid, status, ru);
}

void source_disturbs(struct source *s, const char *program, const char *how)
{
	char name[64];

	plain_text(program, strlen(program), name, sizeof(name));
	texts_add(&s->notes, SOURCE_DISTURBED "%s: %s", name, how);
}

void source_close(struct source *s)
{
	if (!s)
		return;
	texts_free(&s->notes);
	s->ops->close(s);
}

int source_run_totals(struct source *s, uint32_t run, struct totals *ret)
{
	return s->ops->run_totals ? s->ops->run_totals(s, run, true, ret) : -ENOTSUP;
}

int source_run_counts(struct source *s, uint32_t run, struct totals *ret)
{
	return s->ops->run_totals ? s->ops->run_totals(s, run, false, ret) : -ENOTSUP;
}

void source_run_release(struct source *s, uint32_t run)
{
	if (s->ops->run_release)
		s->ops->run_release(s, run);
}
