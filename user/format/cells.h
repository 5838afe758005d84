/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cells - figures as short texts, for tables that people read; "" is not known
 */
#ifndef CELLS_H
#define CELLS_H

#include "model/process.h"

#define CELL_MAX 48

/* Each returns @buf. */
const char *cell_bytes(int64_t bytes, char buf[CELL_MAX]);
const char *cell_time(int64_t ns, char buf[CELL_MAX]);
const char *cell_count(int64_t v, char buf[CELL_MAX]);
/* "0", "3", "signal 9" or "running". */
const char *cell_end(const struct process *p, char buf[CELL_MAX]);
/* ns from its start to its end; UNKNOWN. */
int64_t process_lived_ns(const struct process *p);

#endif /* CELLS_H */
