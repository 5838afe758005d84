// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json_summary.h"
#include "report/text.h"

#define CHUNK ((size_t)64 * 1024)

/* Hands on what has gathered, once that is @least bytes. */
static int hand_on(struct json *j, size_t least, const struct document_sink *to)
{
	bool comma = j->comma;
	int err = j->err;

	if (err || j->len < least)
		return err;
	err = to->put(to->ctx, j->buf, j->len);
	json_reset(j);
	j->comma = comma;
	return err;
}

int document_json(const struct summary *s, const struct document_rows *all,
		  const struct document_sink *to)
{
	struct process *p;
	struct json j;
	int err = 0;

	json_init(&j);
	json_summary_begin(&j, s);
	if (all) {
		while (!err && (p = all->next(all->ctx))) {
			json_process(&j, p);
			process_unref(p);
			err = hand_on(&j, CHUNK, to);
		}
	} else {
		for (size_t i = 0; !err && i < s->n_rows; i++) {
			json_process(&j, s->rows[i]);
			err = hand_on(&j, CHUNK, to);
		}
	}
	json_summary_end(&j, s, all ? 0 : s->rows_omitted);
	if (!err)
		err = hand_on(&j, 0, to);
	json_free(&j);
	return err;
}

/* The text so far, in memory: it goes out in whole lines, and in one write where it is short. */
struct gathered {
	FILE *f;
	char *text;
	size_t len;
};

static int hand_on_text(struct gathered *g, size_t least, const struct document_sink *to)
{
	int err;

	if (fflush(g->f) || ferror(g->f))
		return -ENOMEM;
	if (g->len < least)
		return 0;
	err = to->put(to->ctx, g->text, g->len);
	rewind(g->f);
	return err;
}

int document_text(const struct summary *s, size_t list, const struct document_rows *all,
		  const struct document_sink *to)
{
	struct gathered g = { 0 };
	struct process *p;
	int err = 0;

	g.f = open_memstream(&g.text, &g.len);
	if (!g.f)
		return -ENOMEM;
	text_summary(g.f, s);
	if (all) {
		while (!err && (p = all->next(all->ctx))) {
			text_process(g.f, p);
			process_unref(p);
			err = hand_on_text(&g, CHUNK, to);
		}
	} else {
		for (size_t i = 0; i < s->n_rows && i < list; i++)
			text_process(g.f, s->rows[i]);
	}
	if (!err)
		err = hand_on_text(&g, 1, to);
	fclose(g.f);
	free(g.text);
	return err;
}
