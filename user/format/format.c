// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/format.h"

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

#define KIND(name, rows, repeats)                                        \
	{                                                                \
		&kind_##name, MADE_N, rows, repeats, format_##name, NULL \
	}

static const struct format formats[] = {
	KIND(tree, true, false),
	KIND(table, false, false),
	KIND(csv, true, false),
	KIND(csv_marks, false, false),
	KIND(markdown, false, true),
	KIND(nextflow, false, false),
	KIND(snakemake, false, false),
	KIND(benchexec, false, false),
	KIND(benchmark_action, false, true),
	KIND(bencher, false, true),
	KIND(runner, false, false),
	{ NULL, MADE_TRACE, true, false, format_trace, NULL },
	{ NULL, MADE_PROM, false, true, NULL, &format_prometheus },
	{ NULL, MADE_OPENMETRICS, false, true, NULL, &format_openmetrics },
	{ NULL, MADE_HTML, true, true, format_html, NULL },
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
