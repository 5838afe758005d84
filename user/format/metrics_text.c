// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/metrics_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

const char *metric_suffix(const struct metric_family *f)
{
	return f->type == TYPE_INFO ? "_info" : f->type == TYPE_COUNTER ? "_total" : "";
}

static void put_labels(FILE *out, const struct series *s, const struct point *p)
{
	bool kernel = p->metric == METRIC_INFO && s->kernel;
	const char *comma = *s->labels ? "," : "";

	if (!*s->labels && !kernel && !p->key)
		return;
	fprintf(out, "{%s", s->labels);
	if (kernel)
		fprintf(out, "%skernel=\"%s\"", comma, s->kernel);
	if (p->key)
		fprintf(out, "%s%s=\"%s\"", comma, p->key, p->word);
	putc('}', out);
}

static void put_sample(FILE *out, const struct metrics_form *form, const struct series *s,
		       const struct point *p)
{
	const struct metric_family *f = &metric_families[p->metric];
	char value[64];

	point_text(p, value, sizeof(value));
	fprintf(out, "%s%s", f->name, metric_suffix(f));
	put_labels(out, s, p);
	fprintf(out, " %s", value);
	if (form->times && p->at_ms != NO_TIME)
		fprintf(out, " %" PRId64 ".%03d", p->at_ms / 1000, (int)(p->at_ms % 1000));
	putc('\n', out);
}

static void put_family(FILE *out, const struct metrics *m, const struct metrics_form *form,
		       enum metric metric)
{
	bool headed = false;

	for (const struct series *s = m->all; s < m->all + m->n; s++) {
		if (metric == METRIC_INFO && metrics_info_again(m, s))
			continue;
		for (const struct point *p = s->points; p < s->points + s->n; p++) {
			if (p->metric != metric)
				continue;
			if (!headed)
				form->head(out, &metric_families[metric]);
			headed = true;
			put_sample(out, form, s, p);
		}
	}
}

int metrics_text(const struct metrics *m, const struct metrics_form *form,
		 const struct document_sink *to)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return -ENOMEM;
	for (int metric = 0; metric < METRICS; metric++)
		put_family(out, m, form, (enum metric)metric);
	fputs(form->end, out);
	err = ferror(out) ? -ENOMEM : 0;
	if (fclose(out))
		err = -ENOMEM;
	if (!err)
		err = to->put(to->ctx, text, len);
	free(text);
	return err;
}

/* --- as one document of several journals --------------------------------------------------- */

void *metrics_document(bool backfill)
{
	struct metrics *m = malloc(sizeof(*m));

	if (m)
		metrics_init(m, backfill);
	return m;
}

int metrics_document_add(void *document, const struct format_input *in)
{
	return metrics_add_run(document, in->summary);
}

void metrics_document_end(void *document)
{
	if (document)
		metrics_free(document);
	free(document);
}
