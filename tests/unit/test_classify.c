// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_classify - the co-tenant verdict (SPEC 2.2, 2.3): the worked examples, every bound
 */
#include <locale.h>
#include <math.h>

#include "lib/exitmeter.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define WHOLE    (-99) /* for em_classify, that takes no window */

#define NONE   EM_HOST_UNAVAILABLE
#define QUIET  EM_HOST_QUIET
#define TENANT EM_HOST_COTENANT

static em_verdict judge(const em_load *before, const em_load *after, double window)
{
	return window == WHOLE ? em_classify(before, after)
			       : em_classify_window(before, after, window);
}

static const struct verdict_row {
	const char *label;
	em_load before, after;
	double window, foreign, threshold;
	enum em_host host;
} judged[] = {
	{ "C1", { 10, 100, 50 }, { 12, 103, 52.5 }, WHOLE, 0.25, 1.01, QUIET },
	{ "C2", { 10, 100, 50 }, { 12, 105, 52 }, WHOLE, 1.5, 1.01, TENANT },
	{ "C3 the bound itself", { 0, 0, 0 }, { 1, 1.02, 0 }, WHOLE, 1.02, 1.02, TENANT },
	{ "C4", { 0, 0, 0 }, { 1, 1.0199, 0 }, WHOLE, 1.0199, 1.02, QUIET },
	{ "C5 a short span needs more", { 0, 0, 0 }, { 0.1, 0.115, 0 }, WHOLE, 1.15, 1.2, QUIET },
	{ "C6", { 0, 0, 0 }, { 0.1, 0.121, 0 }, WHOLE, 1.21, 1.2, TENANT },
	{ "C7 padded, diluted", { 0, 0, 0 }, { 0.5, 0.08, 0 }, WHOLE, 0.16, 1.04, QUIET },
	{ "C8 padded, not diluted", { 0, 0, 0 }, { 0.5, 0.08, 0 }, 0.05, 1.6, 1.4, TENANT },
	{ "C9", { 0, 0, 0 }, { 0.5, 0.04, 0 }, 0.05, 0.8, 1.4, QUIET },
	{ "C10 H-23 below 0 stays", { 0, 5, 5 }, { 1, 6.0, 6.02 }, WHOLE, -0.02, 1.02, QUIET },
	{ "C11 almost all ours", { 0, 0, 0 }, { 4, 8.0, 7.9 }, WHOLE, 0.025, 1.005, QUIET },
	{ "C14 H-24 the window is the span", { 0, 0, 0 }, { 0.5, 0.6, 0 }, 0.5, 1.2, 1.04, TENANT },
	{ "nothing at all", { 0, 0, 0 }, { 1, 0, 0 }, WHOLE, 0, 1.02, QUIET },
	{ "H-1 any origin", { -20, 3, 1 }, { -18, 5, 2 }, WHOLE, 0.5, 1.01, QUIET },
	{ "below min_span", { 0, 0, 0 }, { 0.01, 0.05, 0 }, WHOLE, 5, 3, TENANT },
	{ "64 processors", { 0, 0, 0 }, { 10, 640, 0 }, WHOLE, 64, 1.002, TENANT },
};

static void test_judged(void)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		const struct verdict_row *r = &judged[i];
		em_verdict v = judge(&r->before, &r->after, r->window);

		EQ_S(em_host_name(v.host), em_host_name(r->host), "%s: verdict", r->label);
		EQ_I(v.reason, EM_HOST_JUDGED, "%s: no reason", r->label);
		EQ_D(v.foreign, r->foreign, 1e-12, "%s: foreign", r->label);
		EQ_D(v.threshold, r->threshold, 1e-12, "%s: threshold", r->label);
	}
}

static const struct fault_row {
	const char *label;
	em_load before, after;
	double window;
	enum em_host_reason reason;
} faults[] = {
	{ "C12 no time", { 5, 1, 1 }, { 5, 2, 1 }, WHOLE, EM_HOST_EMPTY_SPAN },
	{ "C12 back in time", { 5, 1, 1 }, { 4, 2, 1 }, WHOLE, EM_HOST_EMPTY_SPAN },
	{ "C12 busy 5 to 4", { 0, 5, 0 }, { 1, 4, 0 }, WHOLE, EM_HOST_WENT_BACK },
	{ "C12 own 5 to 4", { 0, 5, 5 }, { 1, 6, 4 }, WHOLE, EM_HOST_WENT_BACK },
	{ "C12 wall NaN", { NAN, 0, 0 }, { 1, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 busy NaN", { 0, NAN, 0 }, { 1, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 own NaN", { 0, 0, NAN }, { 1, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 wall NaN after", { 0, 0, 0 }, { NAN, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 busy NaN after", { 0, 0, 0 }, { 1, NAN, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 own NaN after", { 0, 0, 0 }, { 1, 1, NAN }, WHOLE, EM_HOST_NO_READING },
	{ "C12 wall infinite", { -INFINITY, 0, 0 }, { 1, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 wall infinite after", { 0, 0, 0 }, { INFINITY, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 busy infinite", { 0, 0, 0 }, { 1, INFINITY, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "C12 own infinite", { 0, 0, INFINITY }, { 1, 1, INFINITY }, WHOLE, EM_HOST_NO_READING },
	{ "H-6 busy is none", { 0, -1, 0 }, { 1, 1, 0 }, WHOLE, EM_HOST_NO_READING },
	{ "H-6 own is none", { 0, 0, 0 }, { 1, 1, -1 }, WHOLE, EM_HOST_NO_READING },
	{ "C13 window 0", { 0, 0, 0 }, { 0.5, 1, 0 }, 0, EM_HOST_NO_WINDOW },
	{ "C13 window -1", { 0, 0, 0 }, { 0.5, 1, 0 }, -1, EM_HOST_NO_WINDOW },
	{ "C13 window NaN", { 0, 0, 0 }, { 0.5, 1, 0 }, NAN, EM_HOST_NO_WINDOW },
	{ "C13 window infinite", { 0, 0, 0 }, { 0.5, 1, 0 }, INFINITY, EM_HOST_NO_WINDOW },
	{ "C13 window 0.6 of 0.5", { 0, 0, 0 }, { 0.5, 1, 0 }, 0.6, EM_HOST_NO_WINDOW },
	{ "a quotient that is none", { 0, 0, 0 }, { 1, 1e300, 0 }, 1e-300, EM_HOST_NO_WINDOW },
	{ "a span that is none", { -1.7e308, 0, 0 }, { 1.7e308, 1, 0 }, WHOLE, EM_HOST_EMPTY_SPAN },
};

static void check_none(em_verdict v, enum em_host_reason reason, const char *label)
{
	EQ_S(em_host_name(v.host), "unavailable", "%s: no verdict", label);
	EQ_S(em_host_reason_text(v.reason), em_host_reason_text(reason), "%s: why", label);
	OK(isnan(v.foreign) && isnan(v.threshold), "%s: nothing is known", label);
}

static void test_faults(void)
{
	const em_load some = { 0, 0, 0 };

	for (size_t i = 0; i < COUNT(faults); i++)
		check_none(judge(&faults[i].before, &faults[i].after, faults[i].window),
			   faults[i].reason, faults[i].label);
	check_none(em_classify(NULL, &some), EM_HOST_NO_READING, "H-6 no first reading");
	check_none(em_classify(&some, NULL), EM_HOST_NO_READING, "H-6 no second reading");
	check_none(em_classify_window(NULL, NULL, 1), EM_HOST_NO_READING, "H-6 none at all");
}

/* On both sides of a constant's edge, at many spans: one more tick, and it is another verdict. */
static void test_edges(void)
{
	static const double spans[] = { EM_MIN_SPAN_SECONDS, 0.25, 0.5, 1, 2, 4, 16, 1024, 86400 };

	EQ_D(EM_COTENANT_CORES, 1.0, 0, "H constants: one core");
	EQ_D(EM_COUNTER_ALLOWANCE_SECONDS, 0.02, 0, "H constants: two ticks");
	EQ_D(EM_MIN_SPAN_SECONDS, 0.1, 0, "H constants: the shortest span");
	for (size_t i = 0; i < COUNT(spans); i++) {
		const em_load start = { 0, 0, 0 };
		em_load at = { spans[i], EM_COTENANT_CORES * spans[i] + 0.02, 0 };
		em_load above = at, below = at;

		above.busy += 1e-6;
		below.busy -= 1e-6;
		EQ_I(em_classify(&start, &above).host, TENANT, "%g s: above the bound", spans[i]);
		EQ_I(em_classify(&start, &below).host, QUIET, "%g s: below the bound", spans[i]);
		above.own = below.own = 1e-6 / 2;
		EQ_I(em_classify(&start, &above).host, TENANT, "%g s: a little is ours", spans[i]);
		above.own = above.busy;
		EQ_I(em_classify(&start, &above).host, QUIET, "%g s: all is ours", spans[i]);
		/* H-24: a window never dilutes. */
		EQ_I(em_classify_window(&start, &at, spans[i] / 2).host, TENANT,
		     "%g s: half of it is charged with all", spans[i]);
		OK(em_classify_window(&start, &below, spans[i] / 2).foreign >
			   em_classify(&start, &below).foreign,
		   "%g s: padding adds evidence", spans[i]);
	}
}

static void test_texts(void)
{
	static const struct {
		em_verdict v;
		const char *want;
	} rows[] = {
		{ { QUIET, EM_HOST_JUDGED, 0.1, 1.01 }, "host quiet (0.1 foreign cores)" },
		{ { TENANT, EM_HOST_JUDGED, 1.5, 1.01 }, "host busy (1.5 foreign cores)" },
		{ { TENANT, EM_HOST_JUDGED, 12.34, 1 }, "host busy (12.3 foreign cores)" },
		{ { QUIET, EM_HOST_JUDGED, 0, 1 }, "host quiet (0.0 foreign cores)" },
		{ { QUIET, EM_HOST_JUDGED, -0.02, 1 }, "host quiet (0.0 foreign cores)" },
		{ { QUIET, EM_HOST_JUDGED, -0.12, 1 }, "host quiet (-0.1 foreign cores)" },
		{ { QUIET, EM_HOST_JUDGED, 0.96, 1 }, "host quiet (1.0 foreign cores)" },
		{ { NONE, EM_HOST_NO_READING, NAN, NAN }, "" },
		{ { QUIET, EM_HOST_JUDGED, INFINITY, 1 }, "" },
	};
	char buf[64], tiny[6];

	for (size_t i = 0; i < COUNT(rows); i++) {
		EQ_I(em_verdict_text(&rows[i].v, buf, sizeof(buf)), strlen(rows[i].want),
		     "text %zu: length", i);
		EQ_S(buf, rows[i].want, "text %zu", i);
	}
	EQ_I(em_verdict_text(&rows[0].v, tiny, sizeof(tiny)), 30, "cut: the full length");
	EQ_S(tiny, "host ", "cut: what fits");
	EQ_S(em_host_name(77), "unavailable", "any int has a name");
	EQ_S(em_host_reason_text(EM_HOST_JUDGED), "", "no reason");
	EQ_S(em_host_reason_text(77), "unknown", "any int has a text");
}

int main(void)
{
	setlocale(LC_ALL, "");
	test_judged();
	test_faults();
	test_edges();
	test_texts();
	return tap_done();
}
