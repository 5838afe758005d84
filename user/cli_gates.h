/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli_gates - options that hold a run to something: budgets, and a quiet host
 */
#ifndef CLI_GATES_H
#define CLI_GATES_H

#include <stdbool.h>

#include "config.h"

enum {
	OPT_BUDGET = 0x800,
	OPT_BUDGET_ON,
	OPT_REQUIRE_QUIET,
	OPT_WAIT_QUIET,
	OPT_FAIL_STATUS,
	OPT_GATES_END,
};

/* Rows of a table of options (options.h). */
#define GATE_ROWS                                                                               \
	{ OPT_BUDGET, "budget", "LIMITS",                                                       \
	  "fail beyond peak_rss=SIZE,cpu=S,wall=S,processes=N (any of them)" },                 \
		{ OPT_BUDGET_ON, "budget-on", "BOUND",                                          \
		  "of the peak: lower (the default) or upper" },                                \
		{ OPT_REQUIRE_QUIET, "require-quiet", NULL, "fail unless the host was quiet" }, \
		{ OPT_WAIT_QUIET, "wait-quiet", "S",                                            \
		  "start once the host is quiet, after S seconds at most" },                    \
		{ OPT_FAIL_STATUS, "fail-status", "N",                                          \
		  "what to end with where one of these fails" },

static inline bool is_gate(int key)
{
	return key >= OPT_BUDGET && key < OPT_GATES_END;
}

/* One of them: false, and one line said, when @arg is no good. */
bool gate_take(int key, const char *arg, struct config *c);
/* Whether they fit together, once all are there; else one line is said. */
bool gates_fit(const struct config *c);

#endif /* CLI_GATES_H */
