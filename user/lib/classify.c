// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * classify - was there a co-tenant on the host, and what is said of it (SPEC 2)
 */
#include "lib/exitmeter.h"

#include <math.h>
#include <stdio.h>

#include "lib/number.h"

static em_verdict unavailable(enum em_host_reason why)
{
	return (em_verdict){ EM_HOST_UNAVAILABLE, why, NAN, NAN };
}

static bool is_reading(const em_load *l)
{
	return l && isfinite(l->wall) && isfinite(l->busy) && isfinite(l->own) && l->busy >= 0 &&
	       l->own >= 0;
}

/* H-25: what there is no verdict for. */
static enum em_host_reason fault(const em_load *before, const em_load *after)
{
	if (!is_reading(before) || !is_reading(after))
		return EM_HOST_NO_READING;
	if (!(after->wall - before->wall > 0) || !isfinite(after->wall - before->wall))
		return EM_HOST_EMPTY_SPAN;
	if (after->busy < before->busy || after->own < before->own)
		return EM_HOST_WENT_BACK;
	return EM_HOST_JUDGED;
}

em_verdict em_classify_window(const em_load *before, const em_load *after, double window)
{
	enum em_host_reason why = fault(before, after);
	em_verdict v = { .reason = EM_HOST_JUDGED };

	if (why != EM_HOST_JUDGED)
		return unavailable(why);
	if (!isfinite(window) || window <= 0 || window > after->wall - before->wall)
		return unavailable(EM_HOST_NO_WINDOW);
	v.foreign = ((after->busy - before->busy) - (after->own - before->own)) / window;
	v.threshold = EM_COTENANT_CORES + EM_COUNTER_ALLOWANCE_SECONDS / window;
	if (!isfinite(v.foreign) || !isfinite(v.threshold))
		return unavailable(EM_HOST_NO_WINDOW);
	v.host = v.foreign >= v.threshold ? EM_HOST_COTENANT : EM_HOST_QUIET;
	return v;
}

em_verdict em_classify(const em_load *before, const em_load *after)
{
	enum em_host_reason why = fault(before, after);

	if (why != EM_HOST_JUDGED)
		return unavailable(why);
	return em_classify_window(before, after, after->wall - before->wall);
}

const char *em_host_name(int host)
{
	switch (host) {
	case EM_HOST_QUIET:
		return "quiet";
	case EM_HOST_COTENANT:
		return "cotenant";
	default:
		return "unavailable";
	}
}

const char *em_host_reason_text(int reason)
{
	switch (reason) {
	case EM_HOST_JUDGED:
		return "";
	case EM_HOST_NO_READING:
		return "no-counter";
	case EM_HOST_EMPTY_SPAN:
		return "empty-span";
	case EM_HOST_WENT_BACK:
		return "counter-went-back";
	case EM_HOST_NO_WINDOW:
		return "no-window";
	default:
		return "unknown";
	}
}

int em_verdict_text(const em_verdict *v, char *buf, size_t cap)
{
	double tenths = round(v->foreign * 10);
	char cores[EM_NUMBER_MAX];

	if (v->host == EM_HOST_UNAVAILABLE || !isfinite(tenths) || fabs(tenths) > 1e15)
		return snprintf(buf, cap, "%s", "");
	/* Without the locale's decimal point, and without a minus before 0. */
	snprintf(cores, sizeof(cores), "%s%.0f.%.0f", tenths < 0 ? "-" : "",
		 floor(fabs(tenths) / 10), fmod(fabs(tenths), 10));
	return snprintf(buf, cap, "host %s (%s foreign cores)",
			v->host == EM_HOST_COTENANT ? "busy" : "quiet", cores);
}
