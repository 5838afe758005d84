// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/deliver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "record/load.h"

struct opened {
	char *url;
	struct sink *sink; /* NULL: out of memory */
	bool failed;
};

struct delivery {
	struct opened *at;
	size_t n;
};

struct delivery *delivery_new(void)
{
	return calloc(1, sizeof(struct delivery));
}

void delivery_free(struct delivery *d)
{
	for (size_t i = 0; d && i < d->n; i++) {
		sink_close(d->at[i].sink);
		free(d->at[i].url);
	}
	if (d)
		free(d->at);
	free(d);
}

static void say_failed(const char *name, const struct url *to, const struct sink *s, int err)
{
	const char *why = s && *s->why ? s->why : strerror(-err);

	if (name)
		log_line("%s: not recorded in %s: %s", name, to->text, why);
	else
		log_line("cannot record in %s: %s", to->text, why);
}

static struct opened *find(struct delivery *d, const struct url *to)
{
	struct opened *more, *o;
	int err;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->at[i].url, to->text))
			return &d->at[i];
	more = realloc(d->at, (d->n + 1) * sizeof(*more));
	if (!more)
		return NULL;
	d->at = more;
	o = &more[d->n];
	*o = (struct opened){ .url = strdup(to->text) };
	if (!o->url)
		return NULL;
	d->n++;
	err = sink_open(to, &o->sink);
	o->failed = !!err;
	if (err)
		say_failed(NULL, to, o->sink, err);
	return o;
}

static enum load_result load(struct delivery *d, FILE *in, const char *name, const struct url *to)
{
	struct opened *o = find(d, to);
	enum load_result result;
	int err;

	if (!o)
		log_line("%s: not recorded: out of memory", name);
	if (!o || o->failed)
		return LOAD_FAILED;
	result = load_journal(in, name, o->sink, &err);
	if (result != LOAD_FAILED)
		return result;
	say_failed(name, to, o->sink, err);
	o->failed = true;
	return result;
}

bool deliver_journal(struct delivery *d, FILE *in, const char *name, const struct url *to)
{
	return load(d, in, name, to) == LOAD_DONE;
}

static FILE *reopen(const struct outbox_entry *e)
{
	int fd = lseek(e->fd, 0, SEEK_SET) < 0 ? -1 : dup(e->fd);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static bool deliver_to(struct delivery *d, struct outbox_entry *e, const struct url *to,
		       bool *ret_gone)
{
	FILE *in = reopen(e);
	enum load_result result = LOAD_FAILED;
	int err = 0;

	if (in)
		result = load(d, in, e->name, to);
	else
		log_line("%s: %s", e->name, strerror(errno));
	if (in)
		fclose(in);
	if (result == LOAD_FAILED)
		return false;
	if (result == LOAD_DONE) {
		*ret_gone = e->n_urls <= 1;
		err = outbox_paid(e, to->text);
	} else {
		*ret_gone = true;
		err = outbox_reject(e);
	}
	if (err)
		log_line("%s: cannot be taken from the spool: %s", e->name, strerror(-err));
	return !err;
}

static bool asked_for(const char *url, const struct url *only, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(only[i].text, url))
			return true;
	return !n;
}

/* Where nobody knows to whom it is owed, it is to all that were asked for. */
static int adopt(struct outbox_entry *e, const struct url *only, size_t n)
{
	for (size_t i = 0; !e->n_urls && i < n && i < OUTBOX_URLS_MAX; i++) {
		for (size_t k = 0; k < n && k < OUTBOX_URLS_MAX; k++) {
			e->urls[k] = strdup(only[k].text);
			if (!e->urls[k])
				return -ENOMEM;
			e->n_urls++;
		}
	}
	return 0;
}

bool deliver_entry(struct delivery *d, struct outbox_entry *e, const struct url *only, size_t n)
{
	bool gone = false, all = true;
	struct stat st;

	if (!fstat(e->fd, &st) && !st.st_size)
		return !outbox_drop(e);
	if (adopt(e, only, n)) {
		log_line("%s: not recorded: out of memory", e->name);
		return false;
	}
	if (!e->n_urls) {
		log_line("%s: nobody knows where it is to go: give --to", e->name);
		return false;
	}
	for (size_t i = 0; !gone && i < e->n_urls;) {
		char *text;
		struct url to;
		bool done;

		if (!asked_for(e->urls[i], only, n)) {
			i++;
			continue;
		}
		text = strdup(e->urls[i]); /* the list changes under it */
		done = text && url_parse(text, &to) && deliver_to(d, e, &to, &gone);
		free(text);
		all &= done;
		i += !done;
	}
	return all;
}
