// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/format.h"

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

#define KIND(name, rows)                                        \
	{                                                       \
		&kind_##name, MADE_N, rows, format_##name, NULL \
	}

static const struct format formats[] = {
	KIND(tree, true),
	KIND(table, false),
	KIND(csv, true),
	KIND(csv_marks, false),
	KIND(markdown, false),
	KIND(nextflow, false),
	KIND(snakemake, false),
	KIND(benchexec, false),
	KIND(benchmark_action, false),
	KIND(bencher, false),
	KIND(runner, false),
	{ NULL, MADE_TRACE, true, format_trace, NULL },
	{ NULL, MADE_PROM, false, NULL, &format_prometheus },
	{ NULL, MADE_OPENMETRICS, false, NULL, &format_openmetrics },
	{ NULL, MADE_HTML, true, format_html, NULL },
};

const struct format *format_of_kind(const struct report_kind *kind)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (formats[i].kind == kind)
			return &formats[i];
	return NULL;
}

const struct format *format_of_made(enum made_output made)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (formats[i].made == made)
			return &formats[i];
	return NULL;
}
