/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name - what a run is called where it stands beside others
 */
#ifndef FORMAT_NAME_H
#define FORMAT_NAME_H

#include "model/summary.h"

#define RUN_NAME_MAX 128

/* The label "name", else the command line, made safe and cut; else the program, or "run". */
void run_name(const struct summary *s, char buf[RUN_NAME_MAX]);

/* A process's name and arguments, made safe, cut to @cap. */
void process_name(const struct process *p, char *buf, size_t cap);

#endif /* FORMAT_NAME_H */
