// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "log.h"
#include "serve/http.h"
#include "units.h"

#define LOOK_MS 1000 /* between looks at the journals */

struct server {
	struct site *site;
	struct http *http[LISTEN_MAX];
	int n, epoll_fd, signal_fd;
	int64_t looked_ns;
};

static int watch(const struct server *s, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* As signals to be read; what is started with INT ignored is ended by it all the same. */
static int open_signals(struct server *s)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return -errno;
	s->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? -errno : watch(s, s->signal_fd);
}

static void announce(const struct site *site, int fd, const char *url)
{
	log_line("listening on %s", url);
	if (!*site->token.text && listen_is_open(fd))
		log_line("%s is open to others and asks for no token: who reaches it reads command "
			 "lines",
			 url);
}

static int open_http(struct server *s, const int *fds, int n)
{
	char url[LISTEN_URL_MAX];

	for (int i = 0; i < n; i++) {
		bool listens = listen_url(fds[i], url);

		if (!listens) {
			log_line("descriptor %d is no socket that listens", fds[i]);
			close(fds[i]);
			continue;
		}
		s->http[s->n] = http_open(fds[i], s->site);
		if (!s->http[s->n])
			return -ENOMEM;
		announce(s->site, fds[i], url);
		s->n++;
	}
	for (int i = 0; i < s->n; i++) {
		int err = watch(s, http_poll_fd(s->http[i]));

		if (err)
			return err;
	}
	return s->n ? 0 : -EBADF;
}

/* The requests' own times, the next look, or at once where there is more to be read. */
static int wait_ms(const struct server *s)
{
	int64_t since_ms = (clock_ns(CLOCK_MONOTONIC) - s->looked_ns) / NS_PER_MS;
	int ms = since_ms >= LOOK_MS ? 0 : (int)(LOOK_MS - since_ms);

	if (s->site->journals.behind)
		return 0;
	for (int i = 0; i < s->n; i++) {
		int own = http_wait_ms(s->http[i]);

		if (own >= 0 && own < ms)
			ms = own;
	}
	return ms;
}

static int look(struct server *s)
{
	s->looked_ns = clock_ns(CLOCK_MONOTONIC);
	return journals_read(&s->site->journals);
}

static int loop(struct server *s)
{
	struct signalfd_siginfo signal;
	int err = 0;

	while (!err) {
		struct epoll_event events[LISTEN_MAX + 1];
		int n = epoll_wait(s->epoll_fd, events, LISTEN_MAX + 1, wait_ms(s));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (read(s->signal_fd, &signal, sizeof(signal)) > 0)
			return 0;
		for (int i = 0; i < s->n; i++)
			http_run(s->http[i]);
		if (s->site->journals.behind ||
		    clock_ns(CLOCK_MONOTONIC) - s->looked_ns >= LOOK_MS * NS_PER_MS)
			err = look(s);
	}
	return err;
}

int server_run(struct site *site, const int *fds, int n)
{
	struct server s = { .site = site, .signal_fd = -1 };
	int err;

	s.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = s.epoll_fd < 0 ? -errno : open_signals(&s);
	if (!err)
		err = look(&s);
	if (!err)
		err = open_http(&s, fds, n);
	if (!err)
		err = loop(&s);
	for (int i = 0; i < s.n; i++)
		http_close(s.http[i]);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	if (s.epoll_fd >= 0)
		close(s.epoll_fd);
	if (err)
		log_line("cannot serve: %s", strerror(-err));
	return err;
}
