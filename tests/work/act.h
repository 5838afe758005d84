/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * act - the script that processes of act.c play, each its own steps, one after the other; and what
 * was true at each
 */
#ifndef ACT_H
#define ACT_H

#include <stdint.h>

#define ACT_STEPS 200

enum act_what {
	ACT_WORK,
	ACT_FORK,
	ACT_VFORK, /* CLONE_VM, without the creator's waiting */
	ACT_EXEC,  /* itself again, then @n pages */
	ACT_THREAD,
	ACT_THREAD_END,
	ACT_GROW,
	ACT_SHRINK,
	ACT_BURST, /* @n pages more, and at once less */
	ACT_EXIT,
	ACT_KILL,   /* itself, by the signal @n */
	ACT_ATTACH, /* waits until it is told to go on */
};

struct act_step {
	uint32_t what, who, child; /* by number; @child: of a birth */
	uint32_t n;
	/* What came of it: */
	int32_t pid; /* who did it, or was born */
	uint32_t reserved;
	uint64_t first_bytes; /* resident at a birth, before anything else was done */
	uint64_t most_bytes;  /* in the step */
	uint64_t rss_bytes;   /* after it, of who did it, or was born */
};

struct act_file {
	uint32_t turn; /* the step that is due; a futex */
	uint32_t n;
	uint32_t dying;     /* the pid of who ended just now: nobody goes on before it has */
	uint32_t waits, go; /* ACT_ATTACH */
	uint32_t reserved;
	struct act_step steps[ACT_STEPS];
};

#endif /* ACT_H */
