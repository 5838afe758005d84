// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/gather.h"

#include <errno.h>
#include <stdlib.h>

int gather_open(struct gathered *g)
{
	*g = (struct gathered){ 0 };
	g->f = open_memstream(&g->text, &g->len);
	return g->f ? 0 : -ENOMEM;
}

int gather_hand_on(struct gathered *g, size_t least, const struct document_sink *to)
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

int gather_close(struct gathered *g, int err, const struct document_sink *to)
{
	if (!err)
		err = gather_hand_on(g, 1, to);
	fclose(g->f);
	free(g->text);
	return err;
}

int json_hand_on(struct json *j, size_t least, const struct document_sink *to)
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
