/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outputs - what a session writes into: open from before its first run until after its last
 */
#ifndef SESSION_OUTPUTS_H
#define SESSION_OUTPUTS_H

#include "config.h"
#include "journal/room.h"
#include "output.h"
#include "session/after.h"
#include "session/recorder.h"

struct outputs {
	struct output report, json, journal;
	struct room room; /* of the journal's file */
	struct after after;
	struct recorder recorder;
};

/* 0, or -errno after one line was printed; outputs_close in any case. */
int outputs_open(const struct config *c, struct outputs *ret);
void outputs_close(struct outputs *o);

#endif /* SESSION_OUTPUTS_H */
