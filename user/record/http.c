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

#include <zlib.h>

#include "record/client.h"
#include "record/sink.h"
#include "units.h"

#define ENDPOINT        "/api/worker/exited"
#define CONNECT_MS      5000L
#define ALL_MS          10000L
#define GZIP_FROM_BYTES ((size_t)64 << 10)

struct http_sink {
	struct sink sink;
	struct client client;
	struct curl_slist *plain, *gzipped; /* headers */
	struct json json;
	unsigned char *packed;
	size_t packed_cap;
};

static struct http_sink *of(struct sink *s)
{
	return (struct http_sink *)s;
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
	curl_easy_setopt(s->client.curl, CURLOPT_HTTPHEADER, packed ? s->gzipped : s->plain);
	curl_easy_setopt(s->client.curl, CURLOPT_POSTFIELDS,
			 packed ? (char *)s->packed : s->json.buf);
	curl_easy_setopt(s->client.curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)(packed ? packed : s->json.len));
	return 0;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* {"error":"..."} or, of any other text, the first line. */
static void reason(const struct http_sink *s, char *buf, size_t cap)
{
	json_object *o = json_tokener_parse(s->client.answer), *v;

	if (json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, "error", &v) &&
	    json_object_is_type(v, json_type_string))
		client_line(json_object_get_string(v), buf, cap);
	else
		client_line(s->client.answer, buf, cap);
	json_object_put(o);
}

/* That it cannot take this one, for whatever of it; what may be mended elsewhere is not. */
static bool refuses(long status)
{
	return status == 400 || status == 409 || status == 413 || status == 422;
}

static int take_status(struct http_sink *s, long status, int64_t *ret_written)
{
	char why[200];
	json_object *o, *v;
	int64_t written = -1;

	if (status < 200 || status >= 300) {
		reason(s, why, sizeof(why));
		return sink_fail(&s->sink, refuses(status) ? -EINVAL : -EIO, "HTTP %ld%s%s", status,
				 *why ? ": " : "", why);
	}
	/* Anything may answer 200: whoever took a meter says how many attempts it wrote. */
	o = json_tokener_parse(s->client.answer);
	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "attempts", &v) && json_object_is_type(v, json_type_int))
		written = json_object_get_int64(v);
	json_object_put(o);
	if (written < 0)
		return sink_fail(&s->sink, -EINVAL,
				 "HTTP %ld, but no count of attempts: it takes no meters", status);
	*ret_written = written;
	return 0;
}

static int http_ended(struct sink *sink, const struct ended *x, int64_t *ret_written)
{
	struct http_sink *s = of(sink);
	long status = 0;
	int err;

	sink->why[0] = '\0';
	err = make_body(s, x);
	if (err)
		return err;
	err = client_perform(&s->client, &status);
	if (err)
		return sink_fail(sink, err, "%s", s->client.error);
	return take_status(s, status, ret_written);
}

/* --- open and close ------------------------------------------------------------------------ */

static void http_close(struct sink *sink)
{
	struct http_sink *s = of(sink);

	client_close(&s->client);
	curl_slist_free_all(s->plain);
	curl_slist_free_all(s->gzipped);
	json_free(&s->json);
	free(s->packed);
	free(s);
}

static const struct sink_ops ops = { .ended = http_ended, .close = http_close };

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

	ok = client_header(&s->plain, "Content-Type: application/json") &&
	     client_header(&s->gzipped, "Content-Type: application/json") &&
	     client_header(&s->gzipped, "Content-Encoding: gzip");
	if (ok && token && *token) {
		ok = asprintf(&auth, "Authorization: Bearer %s", token) >= 0 &&
		     client_header(&s->plain, auth) && client_header(&s->gzipped, auth);
		free(auth);
	}
	curl_easy_setopt(s->client.curl, CURLOPT_URL, url);
	curl_easy_setopt(s->client.curl, CURLOPT_POST, 1L);
	curl_easy_setopt(s->client.curl, CURLOPT_NETRC,
			 token && *token ? (long)CURL_NETRC_IGNORED : (long)CURL_NETRC_OPTIONAL);
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
	whole = whole_url(url->text);
	ok = !client_open(&s->client, CONNECT_MS, ALL_MS) && whole && set_up(s, whole);
	free(whole);
	return ok ? 0 : sink_fail(&s->sink, -ENOMEM, "out of memory");
}
