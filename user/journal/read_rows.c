// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_rows - a run's rows and samples in a second look, one by one
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "journal/read.h"
#include "journal/read_env.h"

struct journal_rows {
	struct lines lines;
	unsigned long long most;
	int err;
	journal_on_sample *on_sample;
	void *ctx;
};

struct journal_rows *journal_rows_new(FILE *in, unsigned long long lines)
{
	struct journal_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->most = lines;
	if (lines_init(&r->lines, in)) {
		free(r);
		return NULL;
	}
	return r;
}

void journal_rows_samples(struct journal_rows *r, journal_on_sample *on_sample, void *ctx)
{
	r->on_sample = on_sample;
	r->ctx = ctx;
}

/* Those of the whole tree, as the first look took them. */
static void hand_sample(const struct journal_rows *r, json_object *o, int64_t at_ns)
{
	struct sample_values told;
	struct curve_point p;
	json_object *cpus;
	struct why why;

	if (!r->on_sample || json_object_object_get_ex(o, "run", NULL) ||
	    values_sample(o, &told, &why))
		return;
	p = (struct curve_point){ .at_ns = at_ns,
				  .rss_bytes = told.rss_bytes,
				  .cpu_ns = told.cpu_ns,
				  .cpus = -1,
				  .processes = told.processes,
				  .threads = told.threads,
				  .lower_bytes = told.lower_bytes,
				  .upper_bytes = told.upper_bytes,
				  .pss_bytes = told.pss_bytes };
	if (json_object_object_get_ex(o, "cpus", &cpus) && cpus)
		p.cpus = json_object_get_double(cpus);
	r->on_sample(r->ctx, &p);
}

struct process *journal_rows_next(struct journal_rows *r)
{
	struct process *p = NULL;

	while (!p && !r->err && r->lines.n < r->most) {
		int more = lines_next(&r->lines);
		const char *event;
		json_object *o, *t;
		struct why why = { "" };
		int64_t at_ns;

		if (more <= 0) {
			r->err = more;
			return NULL;
		}
		if (lines_parse(&r->lines, &o, &event, &why))
			continue;
		if (!strcmp(event, "summary")) {
			r->most = 0;
		} else if (!json_object_object_get_ex(o, "t", &t) || !t || value_ns(t, 0, &at_ns)) {
			; /* left out by the first look too */
		} else if (!strcmp(event, "process")) {
			r->err = values_process(o, &p, &why);
			if (r->err == -EBADMSG)
				r->err = 0;
		} else if (!strcmp(event, "sample")) {
			hand_sample(r, o, at_ns);
		}
		json_object_put(o);
	}
	return p;
}

int journal_rows_free(struct journal_rows *r)
{
	int err = r ? r->err : 0;

	if (r)
		lines_free(&r->lines);
	free(r);
	return err;
}
