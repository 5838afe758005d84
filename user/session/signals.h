/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals - what exitmeter does with signals while it waits (INTERFACE 2)
 *
 * INT and QUIT are ignored (the terminal sends them to the command as well); TERM, HUP, USR1, USR2,
 * ALRM (a timer that was set before exec) and TSTP arrive through a descriptor, CHLD too.  The
 * command gets what we were started with.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
	int fd;                 /* signalfd */
	sigset_t mask;          /* as we were started */
	struct sigaction child; /* SIGCHLD, likewise */
	bool term_ignored;      /* likewise: TERM does not end the command, nor us */
};

/* Before the command is forked.  0 or -errno. */
int signals_open(struct signals *s);
/* After it. */
void signals_ignore_keyboard(void);
/* A report into a closed pipe or beyond a limit is an error, not our end. */
void signals_ignore_refusals(void);
/* Stops us like a Ctrl-Z; true when we were stopped and go on. */
bool signals_stop(void);
/* INT arrives through the descriptor too, from here on: it ends waiting for the tree. */
void signals_take_interrupt(struct signals *s);
/* The next one there is, 0 for none; *@ret_kernel: no process sent it, but the terminal. */
int signals_next(struct signals *s, bool *ret_kernel);
void signals_close(struct signals *s);

#endif /* SIGNALS_H */
