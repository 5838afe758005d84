/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_text - metrics as the lines that Prometheus's format and OpenMetrics have in common
 */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include <stdio.h>

#include "format/format.h"
#include "format/metrics.h"

struct metrics_form {
	void (*head)(FILE *out, const struct metric_family *f); /* before its first sample */
	bool times;
	const char *end; /* behind all */
};

/* What behind the family's name makes its samples' name. */
const char *metric_suffix(const struct metric_family *f);

/* Metric by metric; one without a sample has no head.  0, -ENOMEM or what the sink said. */
int metrics_text(const struct metrics *m, const struct metrics_form *form,
		 const struct document_sink *to);

/* For struct format_whole; @backfill: as metrics_init has it. */
void *metrics_document(bool backfill);
int metrics_document_add(void *document, const struct format_input *in);
void metrics_document_end(void *document);

#endif /* METRICS_TEXT_H */
