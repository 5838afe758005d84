/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made - outputs that exitmeter-report makes from the journal: one row each, for both command lines
 *
 * exitmeter itself keeps a journal for them, and executes exitmeter-report once the run is over.
 * Files are written under another name and renamed when they are whole.
 */
#ifndef MADE_H
#define MADE_H

/* X(ID, option, help) */
#define MADE_OUTPUTS(X)                                                                         \
	X(TRACE, "trace", "write a Chrome trace, for Perfetto; - for stdout, fd:N")             \
	X(PROM, "prom", "write metrics for Prometheus, as node_exporter collects them")         \
	X(OPENMETRICS, "openmetrics", "write metrics and marks with their times, to back-fill") \
	X(HTML, "html", "write a page to look at, which works offline; - for stdout, fd:N")

#define MADE_ENUM(id, option, help) MADE_##id,
enum made_output { MADE_OUTPUTS(MADE_ENUM) MADE_N };

/* Rows of a table of options (options.h); their keys are beyond all others. */
#define MADE_OPTION                0x1000
#define MADE_ROW(id, option, help) { MADE_OPTION + MADE_##id, option, "FILE", help },
#define MADE_ROWS                  MADE_OUTPUTS(MADE_ROW)

extern const char *const made_options[MADE_N];

#endif /* MADE_H */
