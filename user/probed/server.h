/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server - connections, and a process for each
 */
#ifndef PROBED_SERVER_H
#define PROBED_SERVER_H

#include <stdbool.h>

struct probed_limits {
	int sessions, per_user, silent_s;
};

/* A socket at @path, which its group may use.  A descriptor or -errno. */
int probed_listen(const char *path);

/* One session, of the connection @socket, in this process.  0 or -errno. */
int probed_session(int socket, const struct probed_limits *limits);

/* Sessions of @socket, which listens, until a signal ends it.  -errno. */
int probed_serve(int socket, const struct probed_limits *limits);

/*
 * Whether one more of its user may start, where each is started by itself: a place is kept as long
 * as the process lives.
 */
bool probed_take_place(int per_user);

#endif /* PROBED_SERVER_H */
