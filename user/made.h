/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made - outputs that exitmeter-report makes from the journal: one row each, for both command lines
 *
 * exitmeter itself keeps a journal for them, and executes exitmeter-report once the run is over.
 */
#ifndef MADE_H
#define MADE_H

#include <stdbool.h>

/*
 * X(ID, option, by name, help).  By name: exitmeter-report opens the file itself, to write it under
 * another name and to rename it when it is whole; else it is handed over open.
 */
#define MADE_OUTPUTS(X)                                                                       \
	X(TRACE, "trace", false, "write a Chrome trace, for Perfetto; - for stdout, fd:N")    \
	X(PROM, "prom", true, "write metrics for Prometheus, as node_exporter collects them") \
	X(OPENMETRICS, "openmetrics", true,                                                   \
	  "write metrics and marks with their times, to back-fill")                           \
	X(HTML, "html", false, "write a page to look at, which works offline; - for stdout, fd:N")

#define MADE_ENUM(id, option, by_name, help) MADE_##id,
enum made_output { MADE_OUTPUTS(MADE_ENUM) MADE_N };

/* Rows of a table of options (options.h); their keys are beyond all others. */
#define MADE_OPTION                         0x1000
#define MADE_ROW(id, option, by_name, help) { MADE_OPTION + MADE_##id, option, "FILE", help },
#define MADE_ROWS                           MADE_OUTPUTS(MADE_ROW)

struct made_kind {
	const char *option;
	bool by_name;
};

extern const struct made_kind made_kinds[MADE_N];

#endif /* MADE_H */
