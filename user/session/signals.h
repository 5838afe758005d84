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
	int fd;                                       /* signalfd */
	sigset_t mask;                                /* as we were started */
	struct sigaction child;                       /* SIGCHLD, likewise */
	struct sigaction interrupt, quit, pipe, xfsz; /* likewise */
	bool term_ignored, hup_ignored; /* likewise: it does not end the command, nor us */
	sigset_t taken;
};

/* Before the command is forked.  0 or -errno. */
int signals_open(struct signals *s);
/* Before another command is forked: what that one gets is as we were started. */
void signals_as_started(const struct signals *s);
/* After it. */
void signals_ignore_keyboard(void);
/* Instead, in a series: INT and QUIT arrive through the descriptor too. */
void signals_take_keyboard(struct signals *s);
/* A report into a closed pipe or beyond a limit is an error, not our end. */
void signals_ignore_refusals(void);
/* Stops us like a Ctrl-Z; true when we were stopped and go on. */
bool signals_stop(void);
/* INT arrives through the descriptor too, from here on: it ends waiting for the tree. */
void signals_take_interrupt(struct signals *s);
/* Whether it ends us, not only the command. */
bool signals_is_end(const struct signals *s, int signo);
/* Between two runs: the first that ends us, 0 for none; a stop is done. */
int signals_end_came(struct signals *s);
/* Whether one that ends us is blocked and waits. */
bool signals_end_waits(void);
/* The next one there is, 0 for none; *@ret_kernel: no process sent it, but the terminal. */
int signals_next(struct signals *s, bool *ret_kernel);
void signals_close(struct signals *s);

#endif /* SIGNALS_H */
