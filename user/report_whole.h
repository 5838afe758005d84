/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_whole - outputs of exitmeter report that are one document of all its journals
 */
#ifndef REPORT_WHOLE_H
#define REPORT_WHOLE_H

#include "format/format.h"
#include "output.h"
#include "report_cli.h"

struct whole {
	const struct format_whole *ops; /* NULL: not asked for */
	struct output out;
	void *document;
	bool any; /* a journal was added */
	bool failed;
};

struct wholes {
	struct whole at[MADE_N];
};

/* Before anything is read.  0, or -errno after one line was printed; wholes_close in any case. */
int wholes_open(const struct report_options *o, struct wholes *ret);
/* 0 or -ENOMEM after one line was printed. */
int wholes_add(struct wholes *w, const struct format_input *in);
/* Writes those that some journal is in.  0, or -errno after one line was printed. */
int wholes_close(struct wholes *w);

#endif /* REPORT_WHOLE_H */
