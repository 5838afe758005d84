/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeat - a series: the command run so many times, one run after the other (-r)
 *
 * Each is a whole run, in one journal.  A run that fails does not end the series; a signal that is
 * to end exitmeter, or the command from the keyboard, does, and what was measured is reported.
 */
#ifndef SESSION_REPEAT_H
#define SESSION_REPEAT_H

#include <signal.h>

#include "report/series.h"
#include "session/channel.h"
#include "session/gates.h"
#include "session/outputs.h"
#include "session/signals.h"
#include "session/spool.h"

/* What one run came to. */
struct run_result {
	int status; /* the command's, or ours where it did not start */
	struct gates gates;
	bool ends_series; /* by a signal, or because it could not start */
};

struct repeat {
	const struct config *config;
	long number; /* of the run at hand, from 1 on */
	struct run_series series;
	bool failed; /* what was taken of it is not all */
	/* So far: */
	int status; /* of the first run that failed */
	struct gates gates;
	bool over;
	int signo; /* that came between two runs; 0 */
	struct channel_half half;
};

/* Another run begins: it gets what the first one had. */
void repeat_again(struct repeat *r);
bool repeat_is_last(const struct repeat *r);
/* Which one it is, and an id of its own.  0 or -ENOMEM. */
int repeat_name(const struct repeat *r, const struct config *c, struct run_facts *f);
/* A run's summary is there: what is written of each run is written. */
void repeat_add(struct repeat *r, struct outputs *out, const struct summary *s, struct spool *rows);
void repeat_take(struct repeat *r, const struct run_result *result);
bool repeat_goes_on(const struct repeat *r);
/* Before a run starts: whether a signal came since the one before that ends the series. */
bool repeat_interrupted(struct repeat *r, struct signals *signals);
/* What is written of all runs, where there were any.  @mask: as for after_make. */
void repeat_report(struct repeat *r, struct outputs *out, const sigset_t *mask);
void repeat_free(struct repeat *r);

#endif /* SESSION_REPEAT_H */
