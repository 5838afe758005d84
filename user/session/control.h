/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control - what the lines of the control channel do to a run (INTERFACE 7)
 */
#ifndef CONTROL_H
#define CONTROL_H

#include "journal/write.h"
#include "session/channel.h"
#include "session/sampler.h"
#include "session/split.h"

/* What they do it to, borrowed. */
struct control {
	struct channel *channel;
	struct run *run;
	struct sampler *sampler;
	struct journal *journal;
	struct split *split;
	const char *io_source;
	const char *disk; /* a folder to measure when an attempt or a phase ends; NULL: none */
	void *ctx;
	void (*drain)(void *ctx); /* hands on the records there are, and writes the journal */
	/* Whose line this is: */
	struct run *of;
	uint32_t place; /* of a run of a split tree; 0: of the whole tree */
};

/*
 * An attempt begins or ends that was known before: at @at_ns, since the run's start, which is now
 * or was a moment ago.  0 or -errno (-EEXIST, -ENOENT: one of that name is open, none is).
 */
int control_attempt_start(struct control *c, const char *name, size_t len, int64_t at_ns);
int control_attempt_end(struct control *c, const char *name, size_t len, int64_t at_ns);

/* Answers lines that are there, each after its work is done. */
void control_serve(struct control *c);
/* All of them that came before now, for at most five seconds; what was lost is a note of the run.
 */
void control_finish(struct control *c);

#endif /* CONTROL_H */
