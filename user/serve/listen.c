// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

#define BACKLOG  64
#define FIRST_FD 3 /* of those that are handed over */
#define HOST_MAX 256

struct endpoint {
	char host[HOST_MAX]; /* "": every address */
	const char *port;    /* borrowed */
};

static bool split(const char *text, struct endpoint *ret)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len = colon ? (size_t)(colon - text) : 0;

	*ret = (struct endpoint){ .port = colon ? colon + 1 : text };
	if (!*ret->port || strspn(ret->port, "0123456789") != strlen(ret->port) ||
	    strlen(ret->port) > 5 || atol(ret->port) > 65535)
		return false;
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (memchr(host, ':', len)) {
		return false; /* an IPv6 address without brackets: where it ends nobody knows */
	}
	if (len >= HOST_MAX)
		return false;
	if (len != 1 || *host != '*')
		snprintf(ret->host, sizeof(ret->host), "%.*s", len ? (int)len : 9,
			 len ? host : "127.0.0.1");
	return true;
}

static int listen_at(const struct addrinfo *a)
{
	const int on = 1;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, BACKLOG)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int listen_open(const char *address)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found;
	struct endpoint e;
	int fd = -EADDRNOTAVAIL, err;

	if (!split(address, &e)) {
		log_line("listen '%s': HOST:PORT, [IPV6]:PORT or PORT", address);
		return -EINVAL;
	}
	err = getaddrinfo(*e.host ? e.host : NULL, e.port, &hints, &found);
	if (err) {
		log_line("listen '%s': %s", address, gai_strerror(err));
		return -EINVAL;
	}
	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
		fd = listen_at(a);
	freeaddrinfo(found);
	if (fd < 0)
		log_line("cannot listen at '%s': %s", address, strerror(-fd));
	return fd;
}

int listen_handed_over(int fds[LISTEN_MAX])
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	long n = pid && count && atol(pid) == getpid() ? atol(count) : 0;
	int found = 0;

	for (long i = 0; i < n && found < LISTEN_MAX; i++) {
		int fd = FIRST_FD + (int)i, flags = fcntl(fd, F_GETFL);

		if (flags < 0)
			continue;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
		fds[found++] = fd;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return found;
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	struct sockaddr_storage storage;
};

bool listen_url(int fd, char url[LISTEN_URL_MAX])
{
	char host[INET6_ADDRSTRLEN];
	socklen_t len = sizeof(union address), int_len = sizeof(int);
	union address a = { .storage = { 0 } };
	int listening = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &int_len) || !listening ||
	    getsockname(fd, &a.any, &len))
		return false;
	if (a.any.sa_family == AF_INET && inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof(host))) {
		snprintf(url, LISTEN_URL_MAX, "http://%s:%d/", host, ntohs(a.v4.sin_port));
	} else if (a.any.sa_family == AF_INET6 &&
		   inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof(host))) {
		snprintf(url, LISTEN_URL_MAX, "http://[%s]:%d/", host, ntohs(a.v6.sin6_port));
	} else if (a.any.sa_family == AF_UNIX) {
		snprintf(url, LISTEN_URL_MAX, "unix:%.80s", a.local.sun_path);
	} else {
		return false;
	}
	return true;
}

bool listen_is_open(int fd)
{
	socklen_t len = sizeof(union address);
	union address a = { .storage = { 0 } };

	if (getsockname(fd, &a.any, &len))
		return true;
	if (a.any.sa_family == AF_INET)
		return ntohl(a.v4.sin_addr.s_addr) >> 24 != 127;
	if (a.any.sa_family == AF_INET6)
		return !IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
	return a.any.sa_family != AF_UNIX;
}
