// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "units.h"

#define AGAIN_NS NS_PER_S /* a database that is not there is not asked more often */

static int open_sink(const struct url *url, const struct scheduler *scheduler, struct sink **ret)
{
	return url->kind == URL_SQLITE ? attempts_sqlite_open(url, scheduler, ret)
				       : attempts_postgres_open(url, scheduler, ret);
}

/* 0; -EAGAIN with why in @r. */
static int be_open(struct serve_record *r)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (r->sink)
		return 0;
	if (r->failed_ns && now_ns - r->failed_ns < AGAIN_NS)
		return -EAGAIN;
	err = open_sink(&r->url, r->scheduler, &r->sink);
	r->failed_ns = 0;
	if (!err)
		return 0;
	snprintf(r->why, sizeof(r->why), "%s",
		 r->sink && *r->sink->why ? r->sink->why : strerror(-err));
	sink_close(r->sink);
	r->sink = NULL;
	r->failed_ns = now_ns;
	return -EAGAIN;
}

/*
 * A name that no run there can have, a process that made no attempts, a second or late report, and
 * one of a worker that has lost the run are alike: nothing is written.
 */
static int take(struct serve_record *r, const struct ended *x, int64_t *ret_attempts)
{
	int err = sink_ended(r->sink, x, ret_attempts);

	if (err == -ENXIO) {
		*ret_attempts = 0;
		return 0;
	}
	if (!err || err == -EINVAL)
		return err;
	snprintf(r->why, sizeof(r->why), "%s", r->sink->why);
	sink_close(r->sink);
	r->sink = NULL;
	return -EAGAIN;
}

static int record(void *ctx, const struct exited *e, int64_t received_ns, int64_t *ret_attempts,
		  char why[EXITED_WHY_MAX])
{
	struct serve_record *r = ctx;
	int64_t ago_ns = clock_ns(CLOCK_MONOTONIC) - received_ns;
	const struct ended x = { .run = (char *)e->run,
				 .pid = e->pid,
				 .worker = e->worker,
				 .start = e->start,
				 .max_rss = e->max_rss,
				 .marks = (struct em_mark *)e->marks,
				 .n_marks = e->n_marks,
				 .exits = e->exits,
				 .n_exits = e->n_exits,
				 .aged_ns = clock_ns(CLOCK_BOOTTIME) - ago_ns };
	int err = be_open(r);

	if (!err)
		err = take(r, &x, ret_attempts);
	if (err)
		snprintf(why, EXITED_WHY_MAX, "%.*s", EXITED_WHY_MAX - 1,
			 err == -EINVAL ? r->sink->why : r->why);
	return err;
}

bool serve_record_open(const struct url *url, const struct scheduler *scheduler,
		       struct serve_record *ret)
{
	*ret = (struct serve_record){ .url = *url, .scheduler = scheduler };
	ret->recorder = (struct recorder){ record, ret };
	if (url->kind != URL_SQLITE && url->kind != URL_POSTGRES) {
		log_line("--to: '%s' holds no attempts: sqlite:FILE or postgresql://", url->text);
		return false;
	}
	if (be_open(ret))
		log_line("cannot record in %s: %s", url->text, ret->why);
	ret->failed_ns = 0;
	return true;
}

void serve_record_close(struct serve_record *r)
{
	sink_close(r->sink);
}
