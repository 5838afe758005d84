// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/deliver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "record/load.h"
#include "record/load_ended.h"

struct opened {
	char *target;
	char *url_text;
	struct url url;
	struct scheduler scheduler;
	struct sink *sink; /* NULL: out of memory */
	bool failed;
};

struct delivery {
	struct opened **at;
	size_t n;
};

struct delivery *delivery_new(void)
{
	return calloc(1, sizeof(struct delivery));
}

static void opened_free(struct opened *o)
{
	sink_close(o->sink);
	scheduler_free(&o->scheduler);
	free(o->url_text);
	free(o->target);
	free(o);
}

void delivery_free(struct delivery *d)
{
	for (size_t i = 0; d && i < d->n; i++)
		opened_free(d->at[i]);
	if (d)
		free(d->at);
	free(d);
}

static void say_failed(const char *name, const struct opened *o, int err)
{
	const char *why = o->sink && *o->sink->why ? o->sink->why : strerror(-err);

	if (name)
		log_line("%s: not recorded in %s: %s", name, o->url.text, why);
	else
		log_line("cannot record in %s: %s", o->url.text, why);
}

/* False after one line was printed. */
static bool open_target(struct opened *o, const char *target)
{
	int err;

	o->target = strdup(target);
	o->url_text = strdup(target);
	if (!o->target || !o->url_text || scheduler_of_target(o->url_text, &o->scheduler)) {
		log_line("where it is to go cannot be read: '%s'", target);
		return false;
	}
	if (!url_parse(o->url_text, &o->url))
		return false;
	err = sink_open(&o->url, &o->scheduler, &o->sink);
	if (err)
		say_failed(NULL, o, err);
	return !err;
}

static struct opened *find(struct delivery *d, const char *target)
{
	struct opened **more, *o;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->at[i]->target, target))
			return d->at[i];
	more = reallocarray(d->at, d->n + 1, sizeof(void *));
	if (!more)
		return NULL;
	d->at = more;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->failed = !open_target(o, target);
	if (!o->target) {
		opened_free(o);
		return NULL;
	}
	return d->at[d->n++] = o;
}

static enum load_result load(struct delivery *d, FILE *in, const char *name, const char *target)
{
	struct opened *o = find(d, target);
	enum load_result result;
	int err;

	if (!o)
		log_line("%s: not recorded: out of memory", name);
	if (!o || o->failed)
		return LOAD_FAILED;
	if (sink_takes_ended(o->sink))
		result = load_ended(in, name, o->sink, &o->scheduler, NULL, &err);
	else
		result = load_journal(in, name, o->sink, &err);
	if (result != LOAD_FAILED && result != LOAD_REFUSED)
		return result;
	say_failed(name, o, err);
	o->failed = result == LOAD_FAILED;
	return result;
}

bool deliver_journal(struct delivery *d, FILE *in, const char *name, const char *target)
{
	return load(d, in, name, target) == LOAD_DONE;
}

static FILE *reopen(const struct outbox_entry *e)
{
	int fd = lseek(e->fd, 0, SEEK_SET) < 0 ? -1 : dup(e->fd);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static bool deliver_to(struct delivery *d, struct outbox_entry *e, const char *target,
		       bool *ret_gone)
{
	FILE *in = reopen(e);
	enum load_result result = LOAD_FAILED;
	int err = 0;

	if (in)
		result = load(d, in, e->name, target);
	else
		log_line("%s: %s", e->name, strerror(errno));
	if (in)
		fclose(in);
	if (result == LOAD_FAILED || result == LOAD_REFUSED)
		return false;
	if (result != LOAD_FOREIGN) {
		*ret_gone = e->n_urls <= 1;
		err = outbox_paid(e, target);
	} else {
		*ret_gone = true;
		err = outbox_reject(e);
	}
	if (err)
		log_line("%s: cannot be taken from the spool: %s", e->name, strerror(-err));
	return !err && result != LOAD_FOREIGN;
}

/* Whatever options went along: the entry's own count. */
static bool same_url(const char *a, const char *b)
{
	size_t len = strcspn(a, "\t");

	return strcspn(b, "\t") == len && !memcmp(a, b, len);
}

static bool asked_for(const char *target, const char *const *only, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (same_url(only[i], target))
			return true;
	return !n;
}

/* Where nobody knows to whom it is owed, it is to all that were asked for. */
static int adopt(struct outbox_entry *e, const char *const *only, size_t n)
{
	for (size_t i = 0; !e->n_urls && i < n && i < OUTBOX_URLS_MAX; i++) {
		for (size_t k = 0; k < n && k < OUTBOX_URLS_MAX; k++) {
			e->urls[k] = strdup(only[k]);
			if (!e->urls[k])
				return -ENOMEM;
			e->n_urls++;
		}
	}
	return 0;
}

bool deliver_entry(struct delivery *d, struct outbox_entry *e, const char *const *only, size_t n)
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
		char *target;
		bool done;

		if (!asked_for(e->urls[i], only, n)) {
			i++;
			continue;
		}
		target = strdup(e->urls[i]); /* the list changes under it */
		done = target && deliver_to(d, e, target, &gone);
		free(target);
		all &= done;
		i += !done;
	}
	return all;
}
