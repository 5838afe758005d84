// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_whole.h"

#include <errno.h>
#include <string.h>

#include "log.h"

static int open_one(const char *name, struct whole *w)
{
	int err = output_open_whole(name, &w->out);

	if (err)
		return err;
	w->document = w->ops->begin();
	if (!w->document)
		log_line("cannot write '%s': %s", name, strerror(ENOMEM));
	return w->document ? 0 : -ENOMEM;
}

int wholes_open(const struct report_options *o, struct wholes *ret)
{
	int err = 0;

	for (int i = 0; i < MADE_N; i++)
		ret->at[i] = (struct whole){ .out.fd = -1 };
	for (int i = 0; !err && i < MADE_N; i++) {
		const struct format *f = format_of_made((enum made_output)i);

		if (!o->made[i] || !f->whole)
			continue;
		ret->at[i].ops = f->whole;
		err = open_one(o->made[i], &ret->at[i]);
	}
	return err;
}

int wholes_add(struct wholes *w, const struct format_input *in)
{
	int all = 0;

	for (int i = 0; i < MADE_N; i++) {
		struct whole *one = &w->at[i];
		int err = one->ops ? one->ops->add(one->document, in) : 0;

		if (err)
			log_line("cannot write '%s': %s", one->out.name, strerror(-err));
		one->failed |= err != 0;
		one->any = one->ops;
		all = err ? err : all;
	}
	return all;
}

static int close_one(struct whole *w)
{
	const struct document_sink to = { output_put, &w->out };
	int err = 0;

	if (w->any && !w->failed)
		err = output_close(&w->out, w->ops->put(w->document, &to));
	else
		output_drop(&w->out);
	w->ops->end(w->document);
	return err;
}

int wholes_close(struct wholes *w)
{
	int all = 0;

	for (int i = 0; i < MADE_N; i++) {
		int err = w->at[i].ops ? close_one(&w->at[i]) : 0;

		all = err ? err : all;
	}
	return all;
}
