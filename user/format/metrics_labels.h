/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_labels - what names a run's series, safe for every reader
 */
#ifndef METRICS_LABELS_H
#define METRICS_LABELS_H

#include "model/summary.h"

/*
 * command="...",key="...": the command's words with a space between, cut at about 250 bytes, where
 * they were not recorded the program's name; then the run's own labels.  A key becomes letters,
 * digits and _; one that has a meaning already, and pid, gets label_ before it; of keys that come
 * out the same the last counts.  Owned; NULL: out of memory.
 */
char *labels_of_run(const struct run_facts *run, bool with_id);

/* @text as a label's value, control characters as \xNN.  Owned; NULL: out of memory. */
char *label_escape(const char *text);

#endif /* METRICS_LABELS_H */
