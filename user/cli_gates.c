// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli_gates.h"

#include <string.h>

#include "log.h"
#include "model/budget.h"
#include "options.h"

#define WAIT_MAX_S (100 * 365 * 86400.0)
#define STATUS_MAX 255

static bool take_budget(const char *arg, struct config *c)
{
	struct budget b;
	const char *why;

	c->budget = arg;
	if (!budget_parse(arg, &b, &why))
		return true;
	log_line("budget '%s': %s", arg, why);
	return false;
}

static bool take_bound(const char *arg, struct config *c)
{
	c->budget_on = arg;
	if (!strcmp(arg, "lower") || !strcmp(arg, "upper"))
		return true;
	log_line("budget-on '%s': lower or upper", arg);
	return false;
}

bool gate_take(int key, const char *arg, struct config *c)
{
	switch (key) {
	case OPT_BUDGET:
		return take_budget(arg, c);
	case OPT_BUDGET_ON:
		return take_bound(arg, c);
	case OPT_REQUIRE_QUIET:
		return c->require_quiet = true;
	case OPT_WAIT_QUIET:
		if (options_seconds(arg, &c->wait_quiet_s) && c->wait_quiet_s <= WAIT_MAX_S)
			return c->wait_quiet = true;
		log_line("wait-quiet '%s': seconds, 0 or more", arg);
		return false;
	case OPT_FAIL_STATUS:
		return options_number("fail-status", arg, 0, STATUS_MAX, &c->fail_status);
	default:
		return false;
	}
}

bool gates_fit(const struct config *c)
{
	if (c->budget_on && !c->budget) {
		log_line("--budget-on is for --budget only");
		return false;
	}
	/* What is attached to is part of the load before it is metered. */
	if (c->wait_quiet && c->n_pids) {
		log_line("--wait-quiet is for a command only");
		return false;
	}
	return true;
}
