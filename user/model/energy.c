// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/energy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/reading.h"

#define PACKAGE "package-"

struct energy energy_blank(void)
{
	return (struct energy){
		.start_uj = UNKNOWN, .end_uj = UNKNOWN, .delta_uj = UNKNOWN, .wraps = UNKNOWN
	};
}

void energies_free(struct energy *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(e[i].source);
		free(e[i].domain);
		free(e[i].covers);
		free(e[i].quality);
		free(e[i].status);
		free(e[i].reason);
	}
	free(e);
}

/* A socket, not a part of one ("package-0/core"). */
static bool is_package(const struct energy *e)
{
	return e->domain && !strncmp(e->domain, PACKAGE, strlen(PACKAGE)) &&
	       !strchr(e->domain, '/');
}

int64_t energy_packages_uj(const struct energy *e, size_t n)
{
	const struct energy *first = NULL;
	int64_t sum = 0;
	size_t packages = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_package(&e[i]))
			continue;
		if (!first)
			first = &e[i];
		if (!e[i].source || !first->source || strcmp(e[i].source, first->source) != 0 ||
		    e[i].delta_uj < 0 || !e[i].quality || strcmp(e[i].quality, "measured") != 0 ||
		    __builtin_add_overflow(sum, e[i].delta_uj, &sum))
			return UNKNOWN;
		packages++;
	}
	return packages > 1 ? sum : UNKNOWN;
}
