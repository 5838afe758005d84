// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_request - any bytes as lines of the control channel, done to a run
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"
#include "model/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void obey(struct run *run, const struct request *r, int64_t at_ns)
{
	struct tree_sample s = { .at_ns = at_ns,
				 .totals = { .cpu_ns = at_ns / 3,
					     .threads = 2,
					     .lower_bytes = at_ns % 1000,
					     .lower_max_bytes = at_ns % 1000,
					     .interval_max_bytes = at_ns % 1000,
					     .upper_max_bytes = 1000 } };
	struct scan_counters living = { .marks_bytes = at_ns % 77 };
	struct moment m = run_on_moment(run, &s, &living);

	switch (r->kind) {
	case REQUEST_PHASE:
	case REQUEST_RUN:
		if (run_on_phase(run, r->name, r->name_len, &m))
			abort();
		break;
	case REQUEST_ATTEMPT_START:
		run_on_attempt_start(run, r->name, r->name_len, &m);
		break;
	case REQUEST_ATTEMPT_END:
		run_on_attempt_end(run, r->name, r->name_len, &m);
		break;
	case REQUEST_RESET_PEAK:
		run_on_reset(run, &m, at_ns % 2);
		break;
	case REQUEST_USAGE:
		if (run_usage_so_far(run).peak_rss_bytes > 1000)
			abort();
		break;
	case REQUEST_PING:
		run_on_sample(run, &s);
		break;
	}
}

static void finish(struct run *run, int64_t at_ns)
{
	struct run_end end = {
		.at_ns = at_ns,
		.totals = { .cpu_ns = at_ns / 3, .lower_max_bytes = 999, .upper_max_bytes = 1000 }
	};
	struct summary *s = summary_new();
	size_t n = 0;

	if (!s || run_finish(run, &end, TOP_PEAK, s))
		abort();
	for (const struct stretch *a = s->attempts.first; a; a = a->next, n++)
		if (a->peak_rss_bytes > 1000 || a->used.cpu_ns > end.totals.cpu_ns)
			abort();
	if (n != s->attempts.n)
		abort();
	summary_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	int64_t now_ns = 0;
	struct run run;

	if (run_init(&run, 0, EM_MIN_SAMPLE_SECONDS, 2))
		abort();
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		struct request r;

		if (!request_parse(at, len, &r)) {
			now_ns += 40000000 + (int64_t)len * 1000000;
			obey(&run, &r, now_ns);
		}
		at += len + 1;
	}
	finish(&run, now_ns + 1000);
	run_free(&run);
	return 0;
}
