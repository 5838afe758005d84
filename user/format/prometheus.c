// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/prometheus.h"

static void head(FILE *out, const struct metric_family *f)
{
	const char *suffix = metric_suffix(f);

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name, suffix, f->help, f->name, suffix,
		f->type == TYPE_COUNTER ? "counter" : "gauge");
}

const struct metrics_form prometheus = { .head = head, .end = "" };

static void *begin(void)
{
	return metrics_document(false);
}

static int put(const void *document, const struct document_sink *to)
{
	return metrics_text(document, &prometheus, to);
}

const struct format_whole format_prometheus = { begin, metrics_document_add, put,
						metrics_document_end };
