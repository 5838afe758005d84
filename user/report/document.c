// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/document.h"

#include "report/gather.h"
#include "report/json_summary.h"
#include "report/text.h"

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
			err = json_hand_on(&j, GATHER_CHUNK, to);
		}
	} else {
		for (size_t i = 0; !err && i < s->n_rows; i++) {
			json_process(&j, s->rows[i]);
			err = json_hand_on(&j, GATHER_CHUNK, to);
		}
	}
	json_summary_end(&j, s, all ? 0 : s->rows_omitted);
	if (!err)
		err = json_hand_on(&j, 0, to);
	json_free(&j);
	return err;
}

int document_text(const struct summary *s, size_t list, enum top_order sort,
		  const struct document_rows *all, const struct document_sink *to)
{
	struct gathered g;
	struct process *p;
	int err = gather_open(&g);

	if (err)
		return err;
	text_summary(g.f, s);
	if (all) {
		while (!err && (p = all->next(all->ctx))) {
			text_process(g.f, p);
			process_unref(p);
			err = gather_hand_on(&g, GATHER_CHUNK, to);
		}
	} else {
		for (size_t i = 0; i < s->n_rows && i < list; i++)
			text_process(g.f, s->rows[i]);
		text_omitted(g.f, s, sort, list);
	}
	return gather_close(&g, err, to);
}
