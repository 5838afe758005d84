// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void checks_add(struct checks *c, const char *name, enum check_state state, bool required,
		const char *remedy, const char *format, ...)
{
	struct check *k;
	va_list args;

	if (c->n == CHECKS_MAX)
		return;
	k = &c->at[c->n++];
	*k = (struct check){ .name = name, .state = state, .required = required, .remedy = remedy };
	va_start(args, format);
	vsnprintf(k->detail, sizeof(k->detail), format, args);
	va_end(args);
}

const struct check *checks_find(const struct checks *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->at[i].name, name))
			return &c->at[i];
	return NULL;
}
