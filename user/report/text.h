/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - the report people read: two to four lines, and a list of processes if asked for
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdio.h>

#include "model/summary.h"

/* The lines of INTERFACE 5, each beginning with "exitmeter: ". */
void text_summary(FILE *out, const struct summary *s);

/* One process a line. */
void text_process(FILE *out, const struct process *p);

#endif /* TEXT_H */
