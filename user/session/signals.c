// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int taken[] = { SIGCHLD, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP };

static void set_of(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(set, taken[i]);
}

int signals_open(struct signals *s)
{
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	struct sigaction term;
	sigset_t set;

	/* Children of one that ignores SIGCHLD are reaped without us. */
	if (sigaction(SIGCHLD, &normal, &s->child))
		return -errno;
	if (sigaction(SIGTERM, NULL, &term))
		return -errno;
	s->term_ignored = term.sa_handler == SIG_IGN;
	set_of(&set);
	if (sigprocmask(SIG_BLOCK, &set, &s->mask))
		return -errno;
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? -errno : 0;
}

void signals_ignore_keyboard(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

void signals_ignore_refusals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool signals_stop(void)
{
	const struct timespec none = { 0 };
	sigset_t cont, tstp, before;
	bool stopped;

	/* Blocked it stays pending and tells that we were stopped; an orphaned group is not. */
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigprocmask(SIG_BLOCK, &cont, &before);
	raise(SIGTSTP);
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &tstp, NULL); /* here we stop */
	stopped = sigtimedwait(&cont, NULL, &none) == SIGCONT;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return stopped;
}

void signals_take_interrupt(struct signals *s)
{
	sigset_t set, interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	signal(SIGINT, SIG_DFL); /* blocked: it waits for the descriptor */
	set_of(&set);
	sigaddset(&set, SIGINT);
	signalfd(s->fd, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals_next(struct signals *s, bool *ret_kernel)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	*ret_kernel = info.ssi_code == SI_KERNEL;
	return (int)info.ssi_signo;
}

void signals_close(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
