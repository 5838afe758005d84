/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load - a journal written into a sink
 */
#ifndef RECORD_LOAD_H
#define RECORD_LOAD_H

#include <stdio.h>

#include "record/sink.h"

enum load_result {
	LOAD_DONE,    /* it is in the sink */
	LOAD_FAULTY,  /* it is, but for lines that were malformed */
	LOAD_FOREIGN, /* no journal, or nobody's: it can never be */
	LOAD_VOID,    /* a journal, but nothing for this sink, and that was printed */
	LOAD_REFUSED, /* the sink will not have it as it is; other journals may be taken */
	LOAD_FAILED,  /* the sink fails; @s->why says what happened, as for LOAD_REFUSED */
};

/*
 * Reads @in, named @name in messages, to its end: all its runs, each into a transaction of its own.
 * Malformed lines are left out; they, and why it is no journal, are printed.  *@ret_err: 0 or
 * -errno.
 */
enum load_result load_journal(FILE *in, const char *name, struct sink *s, int *ret_err);
/* What it is of two runs: some of it is there where one of them is. */
enum load_result load_both(enum load_result a, enum load_result b);

#endif /* RECORD_LOAD_H */
