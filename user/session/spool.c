// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

int spool_open(struct spool *s)
{
	*s = (struct spool){ 0 };
	return temporary_open(&s->file);
}

void spool_add(struct spool *s, const struct process *p)
{
	if (s->file && !s->err && fwrite(p, sizeof(*p) + p->argv_len, 1, s->file) != 1)
		s->err = -errno;
}

void spool_rewind(struct spool *s)
{
	if (s->file && !s->err && (fflush(s->file) || fseek(s->file, 0, SEEK_SET)))
		s->err = -errno;
}

struct process *spool_next(struct spool *s)
{
	struct process head, *p;

	if (!s->file || s->err || fread(&head, sizeof(head), 1, s->file) != 1)
		return NULL;
	p = malloc(sizeof(head) + head.argv_len);
	if (!p) {
		s->err = -ENOMEM;
		return NULL;
	}
	memcpy(p, &head, sizeof(head));
	p->refs = 1;
	if (head.argv_len && fread(p->argv, head.argv_len, 1, s->file) != 1) {
		s->err = -EIO;
		free(p);
		return NULL;
	}
	return p;
}

void spool_close(struct spool *s)
{
	if (s->file)
		fclose(s->file);
	s->file = NULL;
}
