/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tell - the sources' part: what the kernel's side of each would hand on of a history, and when
 *
 * Each looks at the true world only through what it could read at that moment.
 */
#ifndef TELL_H
#define TELL_H

#include "capture/source.h"
#include "history.h"

struct world {
	const struct history *h;
	struct truth truth;
	struct source_sink sink;
	int err; /* of the sink */
	/* What was dropped. */
	int64_t lost_forks, lost_execs, lost_exits;
};

struct tell {
	/* Metering begins: of a command, or (attached) of what lives. */
	void (*begin)(struct world *w);
	void (*before)(struct world *w, const struct step *s);
	void (*after)(struct world *w, const struct step *s);
	void (*drain)(struct world *w);
	void (*sample)(struct world *w, struct tree_sample *ret);
	/* As source_finish; the time is @now_ns. */
	void (*finish)(struct world *w, bool root_ended, int64_t now_ns, struct totals *ret);
	size_t (*losses)(struct world *w, struct loss *out);
};

extern const struct tell tell_bpf, tell_ptrace, tell_proc;

/* The world that /proc shows. */
extern struct world *world;

struct process_key key_of_being(const struct truth *t, int i);
int32_t pid_of(int i);
/* "imageN", and with NULs between: "imageN", "-x", the pid; returns the length. */
void comm_of(const struct being *b, char *comm);
size_t argv_of(const struct truth *t, int i, char *argv, size_t cap);
/* Resident now, and the kernel's mark, pages. */
int64_t rss_of(const struct truth *t, const struct being *b);
int64_t mark_of(const struct truth *t, const struct being *b);
/* A record finds no room. */
bool finds_none(const struct world *w, uint64_t luck);

#endif /* TELL_H */
