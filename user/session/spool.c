// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int spool_open(struct spool *s)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	*s = (struct spool){ 0 };
	snprintf(path, sizeof(path), "%s/exitmeter.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	s->file = fdopen(fd, "w+");
	if (!s->file) {
		int err = -errno;

		close(fd);
		return err;
	}
	return 0;
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
