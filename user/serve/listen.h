/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen - the sockets that requests come from: an address, or what a service manager opened
 */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_DEFAULT "127.0.0.1:9477"
#define LISTEN_MAX     8
#define LISTEN_URL_MAX 96

/*
 * "HOST:PORT", "[IPV6]:PORT", or "PORT" on the loopback; "*" is every address, port 0 any that is
 * free.  The descriptor, or -errno after one line was printed.
 */
int listen_open(const char *address);
/* Those that were handed over (LISTEN_FDS, for this process), at most LISTEN_MAX.  How many. */
int listen_handed_over(int fds[LISTEN_MAX]);

/* "http://127.0.0.1:9477/"; false: it is no socket that listens. */
bool listen_url(int fd, char url[LISTEN_URL_MAX]);
/* Whether others than this machine's processes can reach it. */
bool listen_is_open(int fd);

#endif /* SERVE_LISTEN_H */
