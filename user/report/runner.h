/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner - attempts as a benchmark runner's tests, in its own names (SPEC 3.1, R-10 to R-12)
 */
#ifndef RUNNER_H
#define RUNNER_H

#include "report/document.h"

/*
 * {"tests":{"ID":{"resources":{...}}}} and a newline: MiB with one decimal, ms as integers, what is
 * not known left out.  Of attempts of one name the last counts.  0, -ENOMEM or what the sink said.
 */
int document_runner(const struct summary *s, const struct document_sink *to);

#endif /* RUNNER_H */
