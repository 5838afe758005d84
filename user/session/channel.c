// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/request.h"
#include "session/channel_open.h"

#define CLIENTS_MAX 256
#define ANSWERS_MAX ((size_t)256 * 1024) /* that wait for who asked */
#define EVENTS_MAX  16
#define ROUNDS_MAX  4 /* reads of one client before others have their turn */

struct client {
	struct client *next;
	int in_fd, out_fd; /* the same one of a socket; out -1: answers go nowhere */
	bool is_socket, gone;
	pid_t pid; /* of a socket's other end; 0 not known */
	char line[REQUEST_LINE_MAX];
	size_t len;
	bool too_long;
	char *answers; /* that could not be written yet */
	size_t n_answers, cap;
};

void channel_init(struct channel *c)
{
	*c = (struct channel){ .epoll_fd = -1, .spare_fd = -1 };
	for (size_t i = 0; i < CHANNEL_SOCKETS; i++)
		c->sockets[i].fd = -1;
}

static int watch(struct channel *c, int op, int fd, void *what, bool out)
{
	struct epoll_event ev = { .events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = what };

	return epoll_ctl(c->epoll_fd, op, fd, &ev) ? -errno : 0;
}

static int need_epoll(struct channel *c)
{
	if (c->epoll_fd < 0)
		c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return c->epoll_fd < 0 ? -errno : 0;
}

int channel_listen(struct channel *c, const struct channel_socket *s)
{
	size_t i = 0;
	int err = need_epoll(c);

	while (i < CHANNEL_SOCKETS && c->sockets[i].fd >= 0)
		i++;
	if (!err && i == CHANNEL_SOCKETS)
		err = -EMFILE;
	if (!err)
		err = watch(c, EPOLL_CTL_ADD, s->fd, &c->sockets[i], false);
	if (!err)
		c->sockets[i] = *s;
	if (c->spare_fd < 0)
		c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return err;
}

static struct client *add_client(struct channel *c, int in_fd, int out_fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->in_fd = in_fd;
	client->out_fd = out_fd;
	if (need_epoll(c) || watch(c, EPOLL_CTL_ADD, in_fd, client, false)) {
		free(client);
		return NULL;
	}
	client->next = c->clients;
	c->clients = client;
	c->n_clients++;
	return client;
}

int channel_add(struct channel *c, int in_fd, int out_fd)
{
	return add_client(c, in_fd, out_fd) ? 0 : errno ? -errno : -ENOMEM;
}

/* Only leaves: whoever walks over the clients frees it. */
static void leave(struct channel *c, struct client *client)
{
	if (client->gone)
		return;
	client->gone = true;
	epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, client->in_fd, NULL);
}

static void free_client(struct client *client)
{
	close(client->in_fd);
	if (client->out_fd >= 0 && client->out_fd != client->in_fd)
		close(client->out_fd);
	free(client->answers);
	free(client);
}

static void free_gone(struct channel *c)
{
	struct client **at = &c->clients;

	while (*at) {
		struct client *client = *at;

		if (!client->gone) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		c->n_clients--;
		free_client(client);
	}
}

/* --- answers ------------------------------------------------------------------------------- */

/* Who does not take answers is not waited for. */
static void give_up(struct channel *c, struct client *client)
{
	c->dropped++;
	client->n_answers = 0;
	if (client->is_socket)
		leave(c, client);
}

static void flush(struct channel *c, struct client *client)
{
	bool waited = client->n_answers > 0;
	size_t done = 0;

	while (done < client->n_answers) {
		ssize_t n = client->is_socket
				    ? send(client->out_fd, client->answers + done,
					   client->n_answers - done, MSG_NOSIGNAL | MSG_DONTWAIT)
				    : write(client->out_fd, client->answers + done,
					    client->n_answers - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && client->is_socket)
			break;
		if (n < 0) {
			give_up(c, client);
			return;
		}
		done += (size_t)n;
	}
	memmove(client->answers, client->answers + done, client->n_answers - done);
	client->n_answers -= done;
	if (waited && client->is_socket && !client->gone)
		watch(c, EPOLL_CTL_MOD, client->in_fd, client, client->n_answers > 0);
}

static bool reserve(struct client *client, size_t more)
{
	size_t cap = client->cap ? client->cap : 256;
	char *answers;

	if (client->n_answers + more > ANSWERS_MAX)
		return false;
	while (cap < client->n_answers + more)
		cap *= 2;
	answers = realloc(client->answers, cap);
	if (!answers)
		return false;
	client->answers = answers;
	client->cap = cap;
	return true;
}

void channel_answer(struct channel *c, struct client *to, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	if (to->out_fd < 0 || to->gone)
		return;
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	text[len] = '\n';
	if (reserve(to, (size_t)len + 1)) {
		memcpy(to->answers + to->n_answers, text, (size_t)len + 1);
		to->n_answers += (size_t)len + 1;
		flush(c, to);
	} else {
		give_up(c, to);
	}
	free(text);
}

/* --- lines --------------------------------------------------------------------------------- */

/* A line that is too long is told of once, and the rest of it passed over. */
static void take_bytes(struct client *client, const char *data, size_t len,
		       const struct channel_reader *r)
{
	for (size_t i = 0; i < len && !client->gone; i++) {
		if (data[i] != '\n') {
			if (client->len < sizeof(client->line))
				client->line[client->len++] = data[i];
			else
				client->too_long = true;
			continue;
		}
		r->line(r->ctx, client, client->pid, client->line, client->len, client->too_long);
		client->len = 0;
		client->too_long = false;
	}
}

static void serve_client(struct channel *c, struct client *client, const struct channel_reader *r)
{
	char data[REQUEST_LINE_MAX];

	if (client->n_answers)
		flush(c, client);
	for (int i = 0; i < ROUNDS_MAX && !client->gone; i++) {
		ssize_t n = read(client->in_fd, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) { /* half a line asks for nothing */
			leave(c, client);
			return;
		}
		take_bytes(client, data, (size_t)n, r);
	}
}

static void refuse(int fd, const char *why)
{
	ssize_t n = send(fd, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT);

	(void)n; /* it may be gone already */
	close(fd);
}

/*
 * Who cannot be accepted for want of descriptors would stay in the queue, and the loop would come
 * back to him for ever: a spare one is given up for telling him.
 */
static int accept_one(struct channel *c, const struct channel_socket *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	while (fd < 0 && (errno == EMFILE || errno == ENFILE) && c->spare_fd >= 0) {
		close(c->spare_fd);
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			refuse(fd, "error too many open files\n");
		c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	return fd;
}

static void accept_all(struct channel *c, const struct channel_socket *s)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	struct client *client;
	int fd;

	while ((fd = accept_one(c, s)) >= 0) {
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ||
		    (peer.uid && peer.uid != c->uid)) {
			refuse(fd, "error not allowed\n");
			continue;
		}
		client = c->n_clients < CLIENTS_MAX ? add_client(c, fd, fd) : NULL;
		if (!client) {
			refuse(fd, "error too many clients\n");
			continue;
		}
		client->is_socket = true;
		client->pid = peer.pid;
	}
}

static const struct channel_socket *socket_of(const struct channel *c, const void *what)
{
	for (size_t i = 0; i < CHANNEL_SOCKETS; i++)
		if (what == &c->sockets[i])
			return &c->sockets[i];
	return NULL;
}

bool channel_serve(struct channel *c, const struct channel_reader *r)
{
	struct epoll_event ev[EVENTS_MAX];
	int n = c->epoll_fd < 0 ? 0 : epoll_wait(c->epoll_fd, ev, EVENTS_MAX, 0);

	for (int i = 0; i < n; i++) {
		const struct channel_socket *s = socket_of(c, ev[i].data.ptr);

		if (s)
			accept_all(c, s);
		else
			serve_client(c, ev[i].data.ptr, r);
	}
	free_gone(c);
	return n > 0;
}

void channel_close(struct channel *c)
{
	for (struct client *client = c->clients, *next; client; client = next) {
		next = client->next;
		free_client(client);
	}
	for (size_t i = 0; i < CHANNEL_SOCKETS; i++)
		channel_socket_close(&c->sockets[i]);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	if (c->spare_fd >= 0)
		close(c->spare_fd);
	channel_init(c);
}

/* The client that is no socket's: there is one at most. */
static struct client *own_client(const struct channel *c)
{
	struct client *client = c->clients;

	while (client && client->is_socket)
		client = client->next;
	return client;
}

void channel_keep_half(const struct channel *c, struct channel_half *ret)
{
	const struct client *client = own_client(c);

	*ret = (struct channel_half){ 0 };
	if (!client || (!client->len && !client->too_long))
		return;
	ret->line = malloc(sizeof(client->line));
	if (!ret->line)
		return;
	memcpy(ret->line, client->line, client->len);
	ret->len = client->len;
	ret->too_long = client->too_long;
}

void channel_take_half(struct channel *c, struct channel_half *half)
{
	struct client *client = own_client(c);

	if (client && half->line) {
		memcpy(client->line, half->line, half->len);
		client->len = half->len;
		client->too_long = half->too_long;
	}
	channel_half_free(half);
}

void channel_half_free(struct channel_half *half)
{
	free(half->line);
	*half = (struct channel_half){ 0 };
}
