// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_spans - any bytes as a file of attempts, shared out from a run
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/spans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void share(struct summary *s, struct stretches *all)
{
	size_t n = all->n;

	if (spans_attribute(s, all, &s->attempts) || s->attempts.n != n)
		abort();
	for (const struct stretch *a = s->attempts.first; a; a = a->next)
		if (a->peak_rss_bytes < -1 || a->peak_rss_bytes > 900 || a->used.cpu_ns < -1 ||
		    a->used.cpu_ns > 9000000001)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct em_mark marks[] = {
		{ 6, -1, 0, -1 }, { 5, 100, .9, .9 }, { 2, 800, 8.5, 3.9 }, { .5, -1, 9, -1 }
	};
	const char *at = (const char *)data, *end = at + size;
	struct summary *s = summary_new();
	struct stretches all = { 0 };

	if (!s)
		abort();
	memcpy(s->marks, marks, sizeof(marks));
	s->n_marks = sizeof(marks) / sizeof(marks[0]);
	s->aged_ns = 6000000000;
	s->usage.peak_process_bytes = 900;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at), before = all.n;
		const char *why = span_parse(at, len, 1796001687272000000, &all);

		if (all.n > before + !why)
			abort(); /* what was refused is not there */
		at += len + 1;
	}
	share(s, &all);
	stretches_free(&all);
	summary_free(s);
	return 0;
}
