// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/openmetrics.h"

static void head(FILE *out, const struct metric_family *f)
{
	static const char *const types[] = {
		[TYPE_INFO] = "info", [TYPE_GAUGE] = "gauge", [TYPE_COUNTER] = "counter"
	};

	fprintf(out, "# TYPE %s %s\n", f->name, types[f->type]);
	if (f->unit)
		fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
	fprintf(out, "# HELP %s %s\n", f->name, f->help);
}

const struct metrics_form openmetrics = { .head = head, .times = true, .end = "# EOF\n" };

static void *begin(void)
{
	return metrics_document(true);
}

static int put(const void *document, const struct document_sink *to)
{
	return metrics_text(document, &openmetrics, to);
}

const struct format_whole format_openmetrics = { begin, metrics_document_add, put,
						 metrics_document_end };
