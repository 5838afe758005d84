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
	struct sigaction term, hup;

	/* Children of one that ignores SIGCHLD are reaped without us. */
	if (sigaction(SIGCHLD, &normal, &s->child))
		return -errno;
	if (sigaction(SIGTERM, NULL, &term) || sigaction(SIGHUP, NULL, &hup) ||
	    sigaction(SIGINT, NULL, &s->interrupt) || sigaction(SIGQUIT, NULL, &s->quit) ||
	    sigaction(SIGPIPE, NULL, &s->pipe) || sigaction(SIGXFSZ, NULL, &s->xfsz))
		return -errno;
	s->term_ignored = term.sa_handler == SIG_IGN;
	s->hup_ignored = hup.sa_handler == SIG_IGN;
	set_of(&s->taken);
	if (sigprocmask(SIG_BLOCK, &s->taken, &s->mask))
		return -errno;
	s->fd = signalfd(-1, &s->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? -errno : 0;
}

void signals_as_started(const struct signals *s)
{
	sigaction(SIGINT, &s->interrupt, NULL);
	sigaction(SIGQUIT, &s->quit, NULL);
	sigaction(SIGPIPE, &s->pipe, NULL);
	sigaction(SIGXFSZ, &s->xfsz, NULL);
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

static void take(struct signals *s, int signo)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signo);
	sigprocmask(SIG_BLOCK, &one, NULL);
	signal(signo, SIG_DFL); /* blocked: it waits for the descriptor */
	sigaddset(&s->taken, signo);
	signalfd(s->fd, &s->taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

void signals_take_interrupt(struct signals *s)
{
	take(s, SIGINT);
}

/* Who started us so that they are ignored does not want to end us by them. */
void signals_take_keyboard(struct signals *s)
{
	signals_ignore_keyboard();
	if (s->interrupt.sa_handler != SIG_IGN)
		take(s, SIGINT);
	if (s->quit.sa_handler != SIG_IGN)
		take(s, SIGQUIT);
}

bool signals_is_end(const struct signals *s, int signo)
{
	return signo == SIGINT || signo == SIGQUIT || (signo == SIGTERM && !s->term_ignored) ||
	       (signo == SIGHUP && !s->hup_ignored);
}

int signals_end_came(struct signals *s)
{
	bool kernel;
	int signo;

	while ((signo = signals_next(s, &kernel)))
		if (signo == SIGTSTP)
			signals_stop();
		else if (signals_is_end(s, signo))
			return signo;
	return 0;
}

bool signals_end_waits(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGQUIT) ||
		sigismember(&waiting, SIGTERM) || sigismember(&waiting, SIGHUP));
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
