/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choice - the best source that works: bpf, then ptrace, then proc, or the one that is asked for
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <stddef.h>

#include "capture/source.h"
#include "config.h"

/*
 * 0 and *@ret_source, with why each better one was refused in @reason (@cap bytes, "" for none);
 * or -errno: then @reason is why the last one was.
 */
int choice_open(const struct config *c, const struct source_options *o,
		const struct source_sink *sink, struct source **ret_source, char *reason,
		size_t cap);

#endif /* CHOICE_H */
