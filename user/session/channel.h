/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * channel - where lines of the control channel come from, and their answers go (INTERFACE 7)
 *
 * A private socket for the command, one named by --control, descriptors, fifos.  Never blocks: an
 * answer that nobody takes is dropped, a socket's client with it.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/identity.h"

#define CHANNEL_SOCKETS  2
#define CHANNEL_VARIABLE "EXITMETER_CONTROL"

struct client;

struct channel_socket {
	int fd;       /* -1: none */
	char *path;   /* to be removed at the end; NULL: abstract */
	char *folder; /* likewise */
};

struct channel {
	int epoll_fd; /* readable when channel_serve has something to do */
	int spare_fd; /* one to have when there are no more */
	uid_t uid;    /* who may speak, beside root */
	struct channel_socket sockets[CHANNEL_SOCKETS];
	struct client *clients;
	size_t n_clients;
	unsigned long long dropped; /* answers that nobody took */
};

/* Of a line that came in two runs of a series, from descriptors or fifos. */
struct channel_half {
	char *line; /* owned; NULL: none */
	size_t len;
	bool too_long;
};

/* One line came, without its newline; @too_long: it was cut.  channel_answer to @from. */
struct channel_reader {
	void *ctx;
	void (*line)(void *ctx, struct client *from, pid_t pid, const char *line, size_t len,
		     bool too_long);
};

void channel_init(struct channel *c);
/*
 * The private socket, named in EXITMETER_CONTROL of our own environment, from which the command
 * inherits it; that of an exitmeter around us goes in any case.  @as: who the command runs as,
 * NULL: we.  0 or -errno: there is none then.
 */
int channel_open_private(struct channel *c, const struct identity *as);
/* --control.  0, or -errno after one line was printed. */
int channel_open(struct channel *c, const char *name, const struct identity *as);
/* Reads and hands on some of the lines there are; false: there were none. */
bool channel_serve(struct channel *c, const struct channel_reader *r);
/* A newline is added. */
void channel_answer(struct channel *c, struct client *to, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void channel_close(struct channel *c);

/* What came of a line before the end, for the next channel of that name, which takes it. */
void channel_keep_half(const struct channel *c, struct channel_half *ret);
void channel_take_half(struct channel *c, struct channel_half *half);
void channel_half_free(struct channel_half *half);

#endif /* CHANNEL_H */
