/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_asked - lines of the report that only dearer readings have
 */
#ifndef TEXT_ASKED_H
#define TEXT_ASKED_H

#include <stdio.h>

#include "model/summary.h"

/* What was asked for beside resident memory; where there is no figure, why. */
void text_asked(FILE *out, const struct summary *s);

#endif /* TEXT_ASKED_H */
