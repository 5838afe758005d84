/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reports - what is written once the run is over
 */
#ifndef REPORTS_H
#define REPORTS_H

#include "config.h"
#include "model/summary.h"
#include "output.h"
#include "session/spool.h"

/* One line is printed for each that fails; the run's status is not touched. */
void report_text(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows);
void report_json(const struct config *c, struct output *out, const struct summary *s,
		 struct spool *rows);

/* The same of one of several runs: @out stays open. */
void report_text_on(const struct config *c, struct output *out, const struct summary *s,
		    struct spool *rows);
void report_json_on(const struct config *c, struct output *out, const struct summary *s,
		    struct spool *rows);

#endif /* REPORTS_H */
