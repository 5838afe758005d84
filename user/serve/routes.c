// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "journal/json.h"
#include "log.h"
#include "serve/accept.h"
#include "serve/gunzip.h"
#include "serve/page.h"
#include "serve/runs.h"

#define NO_DATABASE "no database is configured to record meters in"

struct route {
	const char *path;
	bool post;
	bool open; /* without a token: nothing of a run is in it */
	int (*answer)(struct site *s, const struct request *r, struct reply *ret);
};

/* --- what is looked at --------------------------------------------------------------------- */

static int get_page(struct site *s, const struct request *r, struct reply *ret)
{
	(void)s;
	(void)r;
	return page_make(ret);
}

static int get_health(struct site *s, const struct request *r, struct reply *ret)
{
	(void)s;
	(void)r;
	*ret = (struct reply){ .status = 200, .type = "text/plain" };
	return reply_put(ret, "ok\n", 3);
}

static int get_metrics(struct site *s, const struct request *r, struct reply *ret)
{
	int err = journals_read(&s->journals);

	return err ? err
		   : runs_metrics(&s->journals, s->started_at_ns, accept_openmetrics(r->accept),
				  ret);
}

static int get_runs(struct site *s, const struct request *r, struct reply *ret)
{
	int err = journals_read(&s->journals);

	(void)r;
	return err ? err : runs_json(&s->journals, ret);
}

/* --- a meter comes ------------------------------------------------------------------------- */

static int put_attempts(struct reply *ret, int64_t attempts)
{
	struct json j;
	int err;

	json_init(&j);
	json_open(&j);
	json_key(&j, "attempts");
	json_int(&j, attempts);
	json_close(&j);
	json_newline(&j);
	*ret = (struct reply){ .status = 200, .type = "application/json" };
	err = j.err ? j.err : reply_put(ret, j.buf, j.len);
	json_free(&j);
	return err;
}

static int record(const struct site *s, const struct exited *e, const struct request *r,
		  struct reply *ret)
{
	char why[EXITED_WHY_MAX] = "";
	int64_t attempts = 0;
	int err;

	if (!s->recorder) {
		reply_error(ret, 503, NO_DATABASE);
		return 0;
	}
	err = s->recorder->record(s->recorder->ctx, e, r->received_ns, &attempts, why);
	if (!err)
		return put_attempts(ret, attempts);
	log_line("run %s, pid %" PRId64 " was not recorded: %s", e->run, e->pid, why);
	reply_error(ret, err == -EAGAIN ? 503 : 500, "%s", why);
	return 0;
}

static int take_exited(struct site *s, const char *body, size_t len, const struct request *r,
		       struct reply *ret)
{
	char why[EXITED_WHY_MAX];
	struct exited *e;
	int err = exited_parse(body, len, &e, why);

	if (err == -EBADMSG) {
		reply_error(ret, 400, "%s", why);
		return 0;
	}
	if (!err)
		err = record(s, e, r, ret);
	exited_free(e);
	return err;
}

static int post_exited(struct site *s, const struct request *r, struct reply *ret)
{
	char *plain;
	size_t len;
	int err;

	if (!r->content_encoding || !strcasecmp(r->content_encoding, "identity"))
		return take_exited(s, r->body, r->len, r, ret);
	err = gunzip(r->body, r->len, BODY_MAX, &plain, &len);
	if (err == -E2BIG) {
		route_too_large(ret);
		return 0;
	}
	if (err == -EBADMSG) {
		reply_error(ret, 400, "the body is no gzip, or cut off");
		return 0;
	}
	if (err)
		return err;
	err = take_exited(s, plain, len, r, ret);
	free(plain);
	return err;
}

/* --- which --------------------------------------------------------------------------------- */

static const struct route routes[] = {
	{ "/", false, true, get_page },
	{ "/healthz", false, true, get_health },
	{ "/metrics", false, false, get_metrics },
	{ "/api/runs", false, false, get_runs },
	{ "/api/worker/exited", true, false, post_exited },
};

static const struct route *route_of(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (!strcmp(routes[i].path, path))
			return &routes[i];
	return NULL;
}

const char *route_allows(const char *path)
{
	const struct route *route = route_of(path);

	return route && route->post ? "POST" : "GET, HEAD";
}

/* Not what a form of another site can send: a browser asks before it sends JSON. */
static bool is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && !strncasecmp(type, json, strlen(json)) && strchr("; \t", type[strlen(json)]);
}

static bool is_too_large(const char *length)
{
	char *end;
	unsigned long long v;

	if (!length)
		return false;
	errno = 0;
	v = strtoull(length, &end, 10);
	return errno || v > BODY_MAX;
}

void route_too_large(struct reply *ret)
{
	reply_error(ret, 413, "the body is larger than %zu bytes", BODY_MAX);
}

static bool refuses_post(const struct request *r, struct reply *ret)
{
	const char *encoding = r->content_encoding;

	if (!is_json(r->content_type))
		reply_error(ret, 415, "Content-Type is not application/json");
	else if (encoding && strcasecmp(encoding, "gzip") != 0 &&
		 strcasecmp(encoding, "identity") != 0)
		reply_error(ret, 415, "Content-Encoding is neither gzip nor identity");
	else
		return false;
	return true;
}

bool route_refuses(const struct site *s, const struct request *r, struct reply *ret)
{
	const struct route *route = route_of(r->path);
	bool get = !strcmp(r->method, "GET") || !strcmp(r->method, "HEAD");

	*ret = (struct reply){ 0 };
	if ((!route || !route->open) && !token_matches(&s->token, r->authorization))
		reply_error(ret, 401, "no token, or another one");
	else if (!route)
		reply_error(ret, 404, "there is nothing at this path");
	else if (route->post ? strcmp(r->method, "POST") != 0 : !get)
		reply_error(ret, 405, "this path takes %s", route_allows(r->path));
	else if (is_too_large(r->content_length))
		route_too_large(ret);
	else if (route->post)
		return refuses_post(r, ret);
	else
		return false;
	return true;
}

void route_answer(struct site *s, const struct request *r, struct reply *ret)
{
	int err;

	*ret = (struct reply){ 0 };
	err = route_of(r->path)->answer(s, r, ret);
	if (err)
		reply_error(ret, 500, "%s", strerror(-err));
}
