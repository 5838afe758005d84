/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spool - all rows of a run in an unlinked temporary file, for --all
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdio.h>

#include "model/process.h"

struct spool {
	FILE *file; /* NULL: none, every call does nothing */
	int err;
};

/* In $TMPDIR, else /tmp.  0 or -errno. */
int spool_open(struct spool *s);
void spool_add(struct spool *s, const struct process *p);
/* From the first row on; NULL at the end or after an error (@s->err).  A reference. */
void spool_rewind(struct spool *s);
struct process *spool_next(struct spool *s);
void spool_close(struct spool *s);

#endif /* SPOOL_H */
