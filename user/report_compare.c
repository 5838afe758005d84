// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_compare.h"

#include <errno.h>
#include <string.h>

#include "log.h"
#include "terminal.h"

int comparing_open(const struct report_options *o, struct comparing *ret)
{
	*ret = (struct comparing){ .page.fd = -1, .c.by = o->by };
	if (o->n_journals < 2)
		return 0;
	ret->text = !o->quiet && (o->kind == &kind_text || o->kind == &kind_markdown);
	ret->wanted = ret->text || o->made[MADE_HTML];
	return output_open_whole(o->made[MADE_HTML], &ret->page);
}

int comparing_add(struct comparing *c, const char *journal, bool again, const struct summary *s)
{
	int err = c->wanted ? comparison_add(&c->c, journal, again, s) : 0;

	if (err)
		log_line("cannot compare '%s': %s", journal, strerror(-err));
	return err;
}

static int put_text(const struct report_options *o, const struct comparison *c)
{
	struct output out;
	const struct document_sink to = { output_put, &out };
	int err = output_open(o->report, true, &out);

	if (!err && !o->report)
		output_stderr(&out);
	if (err || out.fd < 0)
		return err;
	err = o->kind == &kind_markdown ? compare_markdown(c, &to)
					: compare_text(c, (size_t)terminal_width(out.fd), &to);
	return output_close(&out, err);
}

int comparing_close(const struct report_options *o, struct comparing *c)
{
	const struct document_sink to = { output_put, &c->page };
	bool some = c->c.n_runs > 1;
	int err = some && c->text ? put_text(o, &c->c) : 0;
	int page_err = 0;

	if (some && c->page.fd >= 0)
		page_err = output_close(&c->page, compare_html(&c->c, &to));
	else
		output_drop(&c->page);
	comparison_free(&c->c);
	return err ? err : page_err;
}
