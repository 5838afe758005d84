/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * openmetrics - metrics in OpenMetrics 1.0.0: for a scrape, and with times to fill a database back
 */
#ifndef OPENMETRICS_H
#define OPENMETRICS_H

#include "format/metrics_text.h"

#define OPENMETRICS_CONTENT "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Ends with # EOF, whatever is in it. */
extern const struct metrics_form openmetrics;

#endif /* OPENMETRICS_H */
