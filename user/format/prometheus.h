/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus - metrics in Prometheus's text format, version 0.0.4: for a text file and a scrape
 */
#ifndef PROMETHEUS_H
#define PROMETHEUS_H

#include "format/metrics_text.h"

#define PROMETHEUS_CONTENT "text/plain; version=0.0.4; charset=utf-8"

/* Without times: node_exporter refuses a text file that has some. */
extern const struct metrics_form prometheus;

#endif /* PROMETHEUS_H */
