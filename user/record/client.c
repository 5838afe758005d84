// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

static size_t take_answer(char *data, size_t size, size_t n, void *ctx)
{
	struct client *c = ctx;
	size_t room = CLIENT_ANSWER_MAX - c->answer_len;
	size_t take = size * n < room ? size * n : room;

	memcpy(c->answer + c->answer_len, data, take);
	c->answer_len += take;
	c->answer[c->answer_len] = '\0';
	return size * n;
}

int client_open(struct client *c, long connect_ms, long all_ms)
{
	c->curl = curl_easy_init();
	if (!c->curl)
		return -ENOMEM;
	curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, all_ms);
	curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "exitmeter/" EXITMETER_VERSION);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
	return 0;
}

void client_close(struct client *c)
{
	curl_easy_cleanup(c->curl);
	c->curl = NULL;
}

int client_perform(struct client *c, long *ret_status)
{
	CURLcode code;

	c->answer_len = 0;
	c->answer[0] = c->error[0] = '\0';
	code = curl_easy_perform(c->curl);
	if (code == CURLE_OK) {
		curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, ret_status);
		return 0;
	}
	if (!*c->error)
		snprintf(c->error, sizeof(c->error), "%s", curl_easy_strerror(code));
	return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ENOTCONN;
}

void client_line(const char *text, char *buf, size_t cap)
{
	text += strspn(text, " \t\r\n");
	plain_text(text, strcspn(text, "\r\n"), buf, cap);
}

bool client_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *more = curl_slist_append(*list, header);

	if (more)
		*list = more;
	return more;
}
