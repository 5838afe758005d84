/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client - requests to one HTTP server, bounded in time, with the beginning of each answer
 */
#ifndef RECORD_CLIENT_H
#define RECORD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#define CLIENT_ANSWER_MAX 4096 /* bytes of an answer that are kept */

struct client {
	CURL *curl; /* the caller's for options of one request */
	char answer[CLIENT_ANSWER_MAX + 1];
	size_t answer_len;
	char error[CURL_ERROR_SIZE]; /* of a request that got no answer */
};

/* -ENOMEM.  The client stays where it is; to be closed, also after an error. */
int client_open(struct client *c, long connect_ms, long all_ms);
void client_close(struct client *c);
/* *@ret_status: HTTP's; -ETIMEDOUT or -ENOTCONN with @c->error. */
int client_perform(struct client *c, long *ret_status);
/* The first line of @text that is not empty, as a message may have it. */
void client_line(const char *text, char *buf, size_t cap);
/* False: out of memory, and *@list is as it was. */
bool client_header(struct curl_slist **list, const char *header);

#endif /* RECORD_CLIENT_H */
