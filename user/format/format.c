// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/format.h"

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct format formats[] = {
	{ &kind_csv, MADE_N, true, format_csv, NULL },
	{ &kind_csv_marks, MADE_N, false, format_csv_marks, NULL },
	{ &kind_runner, MADE_N, false, format_runner, NULL },
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
