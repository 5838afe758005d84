// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "record/growing.h"
#include "record/load_ended.h"

#define RETRY_MS 2000 /* of what cannot even be opened */

static bool takes_ended(char *target)
{
	struct scheduler scheduler;
	char *url_text = strdup(target);
	struct url url;
	bool takes = url_text && !scheduler_of_target(url_text, &scheduler) &&
		     url_parse(url_text, &url) &&
		     (url.kind == URL_HTTP || (scheduler.on && url.kind != URL_CLICKHOUSE));

	if (url_text)
		scheduler_free(&scheduler);
	free(url_text);
	return takes;
}

/* Until the sink is there, or the run is over. */
static struct sink *open_sink(const struct url *url, const struct scheduler *scheduler,
			      const struct patience *patience)
{
	for (;;) {
		struct sink *s = NULL;

		if (!sink_open(url, scheduler, &s))
			return s;
		sink_close(s);
		if (!patience->wait(patience->ctx, RETRY_MS))
			return NULL;
	}
}

/* In a process of its own; what goes wrong is said by who tries it last. */
static bool follow_target(int journal_fd, const char *name, const char *target, int lifeline_fd)
{
	char *url_text = strdup(target), path[64];
	struct scheduler scheduler = { 0 };
	struct patience patience;
	struct growing *f = NULL;
	enum load_result result = LOAD_FAILED;
	struct sink *s;
	struct url url;
	FILE *in = NULL;
	int err;

	if (!url_text || scheduler_of_target(url_text, &scheduler) || !url_parse(url_text, &url))
		return false;
	/* A place of its own in the file. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", journal_fd);
	if (growing_open(open(path, O_RDONLY | O_CLOEXEC), path, lifeline_fd, &f, &in))
		return false;
	patience = (struct patience){ f, growing_wait };
	s = open_sink(&url, &scheduler, &patience);
	if (s)
		result = load_ended(in, name, s, &scheduler, &patience, &err);
	sink_close(s);
	fclose(in);
	growing_free(f);
	scheduler_free(&scheduler);
	free(url_text);
	return result == LOAD_DONE || result == LOAD_VOID;
}

void live_start(struct live *l, int dir, const char *name, int lifeline_fd)
{
	struct outbox_entry e;

	*l = (struct live){ 0 };
	if (outbox_look(dir, name, &e))
		return;
	for (size_t i = 0; i < e.n_urls; i++) {
		pid_t pid;

		if (!takes_ended(e.urls[i]))
			continue;
		pid = fork();
		if (!pid) {
			bool done = follow_target(e.fd, name, e.urls[i], lifeline_fd);

			outbox_close(&e);
			exit(done ? 0 : 1);
		}
		if (pid < 0)
			continue;
		l->at[l->n].pid = pid;
		l->at[l->n].target = strdup(e.urls[i]);
		l->n += !!l->at[l->n].target;
	}
	outbox_close(&e);
}

void live_finish(struct live *l, struct outbox_entry *e, bool *ret_gone)
{
	*ret_gone = false;
	for (size_t i = 0; i < l->n; i++) {
		int status = -1;

		while (waitpid(l->at[i].pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!status) {
			bool last = e->n_urls <= 1;
			int err = outbox_paid(e, l->at[i].target);

			if (err)
				log_line("%s: cannot be taken from the spool: %s", e->name,
					 strerror(-err));
			*ret_gone |= !err && last;
		}
		free(l->at[i].target);
	}
	l->n = 0;
}
