// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal/write.h"
#include "log.h"
#include "report/json_summary.h"
#include "report/text.h"

#define CHUNK (64 * 1024)

static void say_failed(const char *name, int err)
{
	if (err)
		log_line("cannot write '%s': %s", name ? name : "the report", strerror(-err));
}

/* Gathered first, so that it goes out in one write: lines of two runs never mix. */
void report_text(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct process *p;
	int err;

	if (!f) {
		say_failed(out->name, -ENOMEM);
		return;
	}
	text_summary(f, s);
	if (c->all && rows->file) {
		spool_rewind(rows);
		while ((p = spool_next(rows))) {
			text_process(f, p);
			process_unref(p);
		}
	} else if (c->list) {
		for (size_t i = 0; i < s->n_rows && i < (size_t)c->top; i++)
			text_process(f, s->rows[i]);
	}
	err = fclose(f) ? -errno : 0;
	output_begin(out);
	if (!err)
		err = write_all(out->fd >= 0 ? out->fd : STDERR_FILENO, text, len);
	free(text);
	if (!err)
		err = output_close(out);
	if (out->name) /* an error on stderr has nowhere to be said */
		say_failed(out->name, err);
}

static int flush(struct json *j, int fd, size_t least)
{
	bool comma = j->comma;
	int err = j->err;

	if (!err && j->len >= least) {
		err = write_all(fd, j->buf, j->len);
		json_reset(j);
		j->comma = comma;
	}
	return err;
}

void report_json(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows)
{
	struct process *p;
	struct json j;
	int err = 0;

	if (out->fd < 0)
		return;
	json_init(&j);
	output_begin(out);
	json_summary_begin(&j, s);
	if (c->all && rows->file) {
		spool_rewind(rows);
		while (!err && (p = spool_next(rows))) {
			json_process(&j, p);
			process_unref(p);
			err = flush(&j, out->fd, CHUNK);
		}
		json_summary_end(&j, s, 0);
	} else {
		for (size_t i = 0; !err && i < s->n_rows; i++) {
			json_process(&j, s->rows[i]);
			err = flush(&j, out->fd, CHUNK);
		}
		json_summary_end(&j, s, s->rows_omitted);
	}
	if (!err)
		err = flush(&j, out->fd, 0);
	json_free(&j);
	if (!err)
		err = output_close(out);
	say_failed(out->name, err);
}
