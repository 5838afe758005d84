/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http - requests from sockets to the site and back, within limits of size, time and number
 *
 * Single-threaded: whoever runs the loop waits for http_poll_fd, or as long as http_wait_ms says,
 * and calls http_run.
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve/routes.h"

struct http;

/* @fd listens, and is taken over.  NULL: out of memory, or the library refused. */
struct http *http_open(int fd, struct site *site);
int http_poll_fd(const struct http *h);
/* -1: for as long as nothing comes. */
int http_wait_ms(const struct http *h);
void http_run(struct http *h);
/* What is being sent is not waited for.  NULL is fine. */
void http_close(struct http *h);

#endif /* SERVE_HTTP_H */
