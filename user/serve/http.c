// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/http.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "units.h"

#define CONNECTIONS_MAX 64
#define MEMORY_MAX      ((size_t)32 * 1024) /* of a request's head */
#define IDLE_MAX_S      15u
#define REQUEST_MAX_NS  (30 * NS_PER_S)   /* from its first byte to the answer's last */
#define DISCARD_MAX     ((size_t)8 << 20) /* of a body that is refused when it has begun */

struct connection {
	struct connection *next, *before;
	int fd;
	int64_t since_ns; /* it began, or its last request ended */
};

struct http {
	struct MHD_Daemon *daemon;
	struct site *site;
	struct connection *all;
	int poll_fd;
};

/* Of one request. */
struct upload {
	struct request request;
	char *body;
	size_t len, cap, discarded;
	bool too_large;
};

/* --- answers ------------------------------------------------------------------------------- */

static const char nothing_policy[] = "default-src 'none'; frame-ancestors 'none'";

static void add_headers(struct MHD_Response *response, const struct request *r,
			const struct reply *reply)
{
	MHD_add_response_header(response, "Content-Type", reply->type);
	MHD_add_response_header(response, "Content-Security-Policy",
				*reply->policy ? reply->policy : nothing_policy);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (reply->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (reply->status == 405)
		MHD_add_response_header(response, "Allow", route_allows(r->path));
	if (reply->status == 503)
		MHD_add_response_header(response, "Retry-After", "10");
}

static enum MHD_Result send_reply(struct MHD_Connection *c, const struct request *r,
				  struct reply *reply)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(reply->len, reply->body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(reply->body);
		return MHD_NO;
	}
	add_headers(response, r, reply);
	result = MHD_queue_response(c, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

/* --- requests ------------------------------------------------------------------------------ */

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result begin_request(struct http *h, struct MHD_Connection *c, const char *url,
				     const char *method, void **ctx)
{
	struct upload *u = calloc(1, sizeof(*u));
	struct reply reply;

	if (!u)
		return MHD_NO;
	*ctx = u;
	u->request = (struct request){ .method = method,
				       .path = url,
				       .authorization = header(c, "Authorization"),
				       .accept = header(c, "Accept"),
				       .content_type = header(c, "Content-Type"),
				       .content_encoding = header(c, "Content-Encoding"),
				       .content_length = header(c, "Content-Length"),
				       .received_ns = clock_ns(CLOCK_MONOTONIC) };
	if (route_refuses(h->site, &u->request, &reply))
		return send_reply(c, &u->request, &reply);
	return MHD_YES;
}

/* A body without a length may turn out too large: the answer has to wait for its end, which is not
 * waited for without end. */
static enum MHD_Result take_body(struct upload *u, const char *data, size_t *size)
{
	size_t n = *size;

	*size = 0;
	if (u->too_large || u->len + n > BODY_MAX) {
		u->too_large = true;
		u->discarded += n;
		return u->discarded > DISCARD_MAX ? MHD_NO : MHD_YES;
	}
	if (u->len + n > u->cap) {
		size_t cap = u->cap ? 2 * u->cap : 4096;
		char *more;

		while (cap < u->len + n)
			cap *= 2;
		more = realloc(u->body, cap);
		if (!more)
			return MHD_NO;
		u->body = more;
		u->cap = cap;
	}
	memcpy(u->body + u->len, data, n);
	u->len += n;
	return MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **request_ctx)
{
	struct http *h = ctx;
	struct upload *u = *request_ctx;
	struct reply reply = { 0 };

	(void)version;
	if (!u)
		return begin_request(h, c, url, method, request_ctx);
	if (*size)
		return take_body(u, data, size);
	u->request.body = u->body ? u->body : "";
	u->request.len = u->len;
	if (u->too_large)
		route_too_large(&reply);
	else
		route_answer(h->site, &u->request, &reply);
	return send_reply(c, &u->request, &reply);
}

/* --- connections --------------------------------------------------------------------------- */

static struct connection *connection_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **request_ctx,
			 enum MHD_RequestTerminationCode how)
{
	struct connection *connection = connection_of(c);
	struct upload *u = *request_ctx;

	(void)ctx;
	(void)how;
	if (u)
		free(u->body);
	free(u);
	*request_ctx = NULL;
	if (connection)
		connection->since_ns = clock_ns(CLOCK_MONOTONIC);
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **socket_ctx,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = ctx;
	struct connection *one = *socket_ctx;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

		one = info ? calloc(1, sizeof(*one)) : NULL;
		*socket_ctx = one;
		if (!one)
			return;
		*one = (struct connection){ .next = h->all,
					    .fd = info->connect_fd,
					    .since_ns = clock_ns(CLOCK_MONOTONIC) };
		if (h->all)
			h->all->before = one;
		h->all = one;
		return;
	}
	if (!one)
		return;
	if (one->next)
		one->next->before = one->before;
	if (one->before)
		one->before->next = one->next;
	else
		h->all = one->next;
	free(one);
	*socket_ctx = NULL;
}

/* Whoever sends a byte now and then is never idle. */
static void end_slow(const struct http *h)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (const struct connection *c = h->all; c; c = c->next)
		if (now_ns - c->since_ns > REQUEST_MAX_NS)
			shutdown(c->fd, SHUT_RDWR);
}

/* --- the server ---------------------------------------------------------------------------- */

static struct MHD_Daemon *start(int fd, struct http *h)
{
	return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				MEMORY_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_MAX_S,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
				MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

struct http *http_open(int fd, struct site *site)
{
	struct http *h = calloc(1, sizeof(*h));
	const union MHD_DaemonInfo *info;

	if (!h)
		return NULL;
	h->site = site;
	h->daemon = start(fd, h);
	info = h->daemon ? MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		http_close(h);
		return NULL;
	}
	h->poll_fd = info->epoll_fd;
	return h;
}

int http_poll_fd(const struct http *h)
{
	return h->poll_fd;
}

int http_wait_ms(const struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(h->daemon, &ms) != MHD_YES)
		return -1;
	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

void http_run(struct http *h)
{
	end_slow(h);
	MHD_run(h->daemon);
}

void http_close(struct http *h)
{
	if (h && h->daemon)
		MHD_stop_daemon(h->daemon);
	free(h);
}
