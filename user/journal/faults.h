/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults - what was wrong with a journal, told in lines
 */
#ifndef JOURNAL_FAULTS_H
#define JOURNAL_FAULTS_H

#include "journal/read.h"

/* One line for each malformed line that is remembered; one if nothing of a journal was found. */
void faults_print(const char *name, const struct journal_read *r);

#endif /* JOURNAL_FAULTS_H */
