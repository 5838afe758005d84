/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * channel_open - the ends of a control channel, for channel.c
 */
#ifndef CHANNEL_OPEN_H
#define CHANNEL_OPEN_H

#include "session/channel.h"

/* Takes a listening socket, or a pair of descriptors (out -1: none).  0 or -errno: not taken. */
int channel_listen(struct channel *c, const struct channel_socket *s);
int channel_add(struct channel *c, int in_fd, int out_fd);

void channel_socket_close(struct channel_socket *s);

#endif /* CHANNEL_OPEN_H */
