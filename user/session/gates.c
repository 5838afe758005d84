// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/gates.h"

#include <errno.h>
#include <stdio.h>

#include "host/load.h"
#include "log.h"
#include "session/signals.h"
#include "units.h"

/* Short enough to start soon, long enough for the counter. */
#define QUIET_WINDOW_NS (500 * NS_PER_MS)

static int fail_status(const struct config *c, int status)
{
	return c->fail_status >= 0 ? (int)c->fail_status : status;
}

/* --- before the start ---------------------------------------------------------------------- */

static void host_text(const struct host_load *h, char *buf, size_t cap)
{
	const em_verdict v = { .host = h->verdict, .foreign = h->foreign_cores };

	if (!em_verdict_text(&v, buf, cap))
		snprintf(buf, cap, "host not judged (%s)", h->reason ? h->reason : "no verdict");
}

/* The last look, whatever it said; at least one is taken. */
static int look_until_quiet(int64_t most_ns, struct host_load *ret)
{
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + most_ns;
	int64_t left_ns = most_ns > LOAD_MIN_SPAN_NS ? most_ns : LOAD_MIN_SPAN_NS;
	struct load_source source;
	int err;

	load_open(&source);
	do {
		host_load_free(ret);
		err = load_watch_host(&source,
				      left_ns < QUIET_WINDOW_NS ? left_ns : QUIET_WINDOW_NS, ret);
		left_ns = end_ns - clock_ns(CLOCK_MONOTONIC);
		/* Between two runs. */
	} while (!err && ret->verdict == EM_HOST_COTENANT && left_ns >= LOAD_MIN_SPAN_NS &&
		 !signals_end_waits());
	load_close(&source);
	return err;
}

int gates_wait(const struct config *c, bool *ret_gave_up, int *ret_status)
{
	struct host_load last = host_load_blank();
	char text[128];
	int err;

	if (!c->wait_quiet)
		return 0;
	err = look_until_quiet((int64_t)(c->wait_quiet_s * (double)NS_PER_S), &last);
	host_text(&last, text, sizeof(text));
	*ret_gave_up = !err && last.verdict == EM_HOST_COTENANT;
	if (!err && last.verdict == EM_HOST_UNAVAILABLE)
		log_line("%s: not waited for", text);
	host_load_free(&last);
	/* A gate whose failure is no failure holds nothing back. */
	if (!*ret_gave_up || !c->require_quiet || !c->fail_status)
		return 0;
	log_line("%s after %g s of waiting, not started", text, c->wait_quiet_s);
	*ret_status = fail_status(c, STATUS_NOT_QUIET);
	return -EBUSY;
}

/* --- after the end ------------------------------------------------------------------------- */

void gates_judge(const struct config *c, const struct summary *s, struct gates *ret)
{
	const struct host_load *h = &s->host_load;

	*ret = (struct gates){ .over_budget = s->budget.n_exceeded > 0,
			       .not_quiet = c->require_quiet && h->verdict == EM_HOST_COTENANT };
	for (int i = 0; i < BUDGET_ITEMS; i++)
		if (s->budget.unknown[i])
			log_line("budget: %s%s is not known, and not judged",
				 budget_item_name((enum budget_item)i),
				 i == BUDGET_PEAK_RSS && s->budget.budget.upper ? "'s upper bound"
										: "");
	if (c->require_quiet && h->verdict == EM_HOST_UNAVAILABLE)
		log_line("host not judged: %s", h->reason ? h->reason : "no verdict");
}

int gates_status(const struct config *c, const struct gates *g, int status)
{
	int failed = fail_status(c, g->over_budget ? STATUS_OVER_BUDGET : STATUS_NOT_QUIET);

	if (status || (!g->over_budget && !g->not_quiet))
		return status;
	log_line("%s: status %d", g->over_budget ? "over budget" : "the host was not quiet",
		 failed);
	return failed;
}
