// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * http - a server that shares out attempts itself: one POST of each process that ended (U-101)
 *
 * Passwords come from netrc, or a bearer token from EXITMETER_TOKEN.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <zlib.h>

#include "record/sink.h"
#include "units.h"

#define ENDPOINT         "/api/worker/exited"
#define CONNECT_MS       5000L
#define ALL_MS           10000L
#define GZIP_FROM_BYTES  ((size_t)64 << 10)
#define ANSWER_BYTES_MAX 4096 /* as much of it as is looked at */

struct http_sink {
	struct sink sink;
	CURL *curl;
	struct curl_slist *plain, *gzipped; /* headers */
	struct json json;
	unsigned char *packed;
	size_t packed_cap;
	char answer[ANSWER_BYTES_MAX + 1];
	size_t answer_len;
	char error[CURL_ERROR_SIZE];
};

static struct http_sink *of(struct sink *s)
{
	return (struct http_sink *)s;
}

static size_t take_answer(char *data, size_t size, size_t n, void *ctx)
{
	struct http_sink *s = ctx;
	size_t room = ANSWER_BYTES_MAX - s->answer_len;
	size_t take = size * n < room ? size * n : room;

	memcpy(s->answer + s->answer_len, data, take);
	s->answer_len += take;
	s->answer[s->answer_len] = '\0';
	return size * n;
}

/* --- the body ------------------------------------------------------------------------------ */

/* @s->json into @s->packed.  Its length; 0: it cannot be packed. */
static size_t pack(struct http_sink *s)
{
	z_stream z = { .next_in = (unsigned char *)s->json.buf, .avail_in = (uInt)s->json.len };
	size_t len = 0;

	/* 16: gzip's frame */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return 0;
	s->packed_cap = deflateBound(&z, (uLong)s->json.len);
	free(s->packed);
	s->packed = malloc(s->packed_cap);
	z.next_out = s->packed;
	z.avail_out = (uInt)s->packed_cap;
	if (s->packed && deflate(&z, Z_FINISH) == Z_STREAM_END)
		len = z.total_out;
	deflateEnd(&z);
	return len;
}

static int make_body(struct http_sink *s, const struct ended *x)
{
	size_t packed = 0;

	json_reset(&s->json);
	ended_json(&s->json, x, clock_ns(CLOCK_BOOTTIME));
	if (s->json.err)
		return sink_fail(&s->sink, s->json.err, "out of memory");
	if (s->json.len > GZIP_FROM_BYTES)
		packed = pack(s);
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, packed ? s->gzipped : s->plain);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, packed ? (char *)s->packed : s->json.buf);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)(packed ? packed : s->json.len));
	return 0;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* {"error":"..."} or, of any other text, the first line. */
static void reason(const struct http_sink *s, char *buf, size_t cap)
{
	json_object *o = json_tokener_parse(s->answer), *v;
	const char *text = s->answer;

	if (json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, "error", &v) &&
	    json_object_is_type(v, json_type_string))
		text = json_object_get_string(v);
	text += strspn(text, " \t\r\n");
	plain_text(text, strcspn(text, "\r\n"), buf, cap);
	json_object_put(o);
}

/* That it cannot take this one, for whatever of it; what may be mended elsewhere is not. */
static bool refuses(long status)
{
	return status == 400 || status == 409 || status == 413 || status == 422;
}

static int take_status(struct http_sink *s, int64_t *ret_written)
{
	char why[200];
	json_object *o, *v;
	long status = 0;

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status >= 300) {
		reason(s, why, sizeof(why));
		return sink_fail(&s->sink, refuses(status) ? -EINVAL : -EIO, "HTTP %ld%s%s", status,
				 *why ? ": " : "", why);
	}
	o = json_tokener_parse(s->answer);
	*ret_written = 0;
	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "attempts", &v) && json_object_is_type(v, json_type_int))
		*ret_written = json_object_get_int64(v);
	json_object_put(o);
	return 0;
}

static int http_ended(struct sink *sink, const struct ended *x, int64_t *ret_written)
{
	struct http_sink *s = of(sink);
	CURLcode code;
	int err;

	sink->why[0] = '\0';
	err = make_body(s, x);
	if (err)
		return err;
	s->answer_len = 0;
	s->answer[0] = s->error[0] = '\0';
	code = curl_easy_perform(s->curl);
	if (code != CURLE_OK)
		return sink_fail(sink, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ENOTCONN,
				 "%s", *s->error ? s->error : curl_easy_strerror(code));
	return take_status(s, ret_written);
}

/* --- open and close ------------------------------------------------------------------------ */

static void http_close(struct sink *sink)
{
	struct http_sink *s = of(sink);

	curl_easy_cleanup(s->curl);
	curl_slist_free_all(s->plain);
	curl_slist_free_all(s->gzipped);
	json_free(&s->json);
	free(s->packed);
	free(s);
}

static const struct sink_ops ops = { .ended = http_ended, .close = http_close };

static bool add_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *more = curl_slist_append(*list, header);

	if (more)
		*list = more;
	return more;
}

/* Where the URL names none, the server's own endpoint. */
static char *whole_url(const char *url)
{
	const char *host = strstr(url, "://") + 3;
	size_t path = strcspn(host, "/?#");
	char *text = NULL;

	if (host[path] && strcmp(host + path, "/") != 0)
		return strdup(url);
	if (asprintf(&text, "%.*s" ENDPOINT, (int)(host + path - url), url) < 0)
		return NULL;
	return text;
}

static bool set_up(struct http_sink *s, const char *url)
{
	const char *token = getenv("EXITMETER_TOKEN");
	char *auth = NULL;
	bool ok;

	ok = add_header(&s->plain, "Content-Type: application/json") &&
	     add_header(&s->gzipped, "Content-Type: application/json") &&
	     add_header(&s->gzipped, "Content-Encoding: gzip");
	if (ok && token && *token) {
		ok = asprintf(&auth, "Authorization: Bearer %s", token) >= 0 &&
		     add_header(&s->plain, auth) && add_header(&s->gzipped, auth);
		free(auth);
	}
	curl_easy_setopt(s->curl, CURLOPT_URL, url);
	curl_easy_setopt(s->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(s->curl, CURLOPT_NETRC,
			 token && *token ? (long)CURL_NETRC_IGNORED : (long)CURL_NETRC_OPTIONAL);
	curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(s->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, ALL_MS);
	curl_easy_setopt(s->curl, CURLOPT_USERAGENT, "exitmeter/" EXITMETER_VERSION);
	curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, s->error);
	return ok;
}

int http_sink_open(const struct url *url, struct sink **ret)
{
	struct http_sink *s = calloc(1, sizeof(*s));
	char *whole;
	bool ok;

	if (!s)
		return -ENOMEM;
	s->sink.ops = &ops;
	*ret = &s->sink;
	json_init(&s->json);
	s->curl = curl_easy_init();
	whole = whole_url(url->text);
	ok = s->curl && whole && set_up(s, whole);
	free(whole);
	return ok ? 0 : sink_fail(&s->sink, -ENOMEM, "out of memory");
}
