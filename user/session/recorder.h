/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - exitmeter-record beside a run, for --to
 *
 * The run's journal goes into an entry of the spool, which nobody has to read while it grows;
 * exitmeter-record waits at a pipe until it is whole, or we are gone, and takes it from there.
 * Nothing of it delays the run or can fail it: what is not recorded stays in the spool, and is
 * said.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include "config.h"
#include "journal/outbox.h"

struct recorder {
	int journal_fd;  /* the entry, locked: the journal is written there too; -1: none */
	int lifeline_fd; /* exitmeter-record waits until it is closed */
	int said_fd;     /* what it prints */
	int dir_fd;      /* the spool */
	char name[OUTBOX_NAME_MAX];
};

void recorder_init(struct recorder *r);
/* For all of @c->to, while signals are as we were started with; what fails is printed. */
void recorder_open(const struct config *c, struct recorder *r);
/*
 * The journal is whole: waits up to RECORDER_WAIT_MS for it to be recorded, printing what there is
 * to say, then leaves the rest to exitmeter-record.
 */
void recorder_close(struct recorder *r);

#endif /* RECORDER_H */
