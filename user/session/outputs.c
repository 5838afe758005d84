// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/outputs.h"

int outputs_open(const struct config *c, struct outputs *ret)
{
	int err;

	*ret = (struct outputs){
		.report.fd = -1, .json.fd = -1, .journal.fd = -1, .room.most_bytes = c->journal_max
	};
	after_init(&ret->after);
	recorder_init(&ret->recorder);
	err = output_open(c->quiet ? NULL : c->report, c->append || c->kind->appended,
			  &ret->report);
	if (!c->quiet && !c->report)
		output_stderr(&ret->report);
	if (!err)
		err = output_open(c->json, false, &ret->json);
	if (!err)
		err = output_open(c->journal, false, &ret->journal);
	if (!err)
		err = after_open(c, &ret->journal, &ret->after);
	if (!err)
		recorder_open(c, &ret->recorder);
	return err;
}

void outputs_close(struct outputs *o)
{
	output_close(&o->report, 0);
	output_close(&o->json, 0);
	output_close(&o->journal, 0);
	after_close(&o->after);
	recorder_close(&o->recorder);
}
