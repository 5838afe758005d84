/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks - what was found out, one row for each thing that exitmeter needs
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#define CHECKS_MAX 32

enum check_state { CHECK_UNKNOWN, CHECK_NO, CHECK_WORKS };

struct check {
	const char *name;
	enum check_state state;
	bool required; /* without it no result is exact */
	char detail[256];
	const char *remedy; /* what would allow it; NULL: nothing, or nothing is needed */
};

struct checks {
	struct check at[CHECKS_MAX];
	size_t n;
};

void checks_add(struct checks *c, const char *name, enum check_state state, bool required,
		const char *remedy, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* NULL: there is none. */
const struct check *checks_find(const struct checks *c, const char *name);

#endif /* CHECKS_H */
