// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_marks - any bytes as marks and as a usage; what is taken is shared out and written again
 *
 * The spans and exits that it is shared out among are made of the same bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/exitmeter.h"

#define SPANS 5
#define EXITS 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any double at all, from bytes that are used again and again. */
static double any(const uint8_t *data, size_t size, size_t i)
{
	unsigned char bytes[sizeof(double)];
	double v;

	for (size_t k = 0; k < sizeof(bytes); k++)
		bytes[k] = data[(i * sizeof(bytes) + k) % size];
	memcpy(&v, bytes, sizeof(v));
	/* Half of them near the marks. */
	return i % 2 ? v : (double)(bytes[0] % 64) / 4;
}

static void share(const em_mark *marks, size_t n, const uint8_t *data, size_t size)
{
	em_span spans[SPANS];
	em_exit exits[EXITS];
	em_usage out[SPANS];
	int64_t most = 1000;

	for (size_t i = 0; i < SPANS; i++)
		spans[i] = (em_span){ (int64_t)i, any(data, size, 2 * i),
				      i % 2 ? -1 : any(data, size, 2 * i + 1) };
	for (size_t i = 0; i < EXITS; i++) {
		exits[i] = (em_exit){ any(data, size, 3 * i), any(data, size, 3 * i + 1),
				      data[i % size], any(data, size, 3 * i + 2) };
		if (exits[i].peak_rss > most)
			most = exits[i].peak_rss;
	}
	for (size_t i = 0; i < n; i++)
		if (marks[i].rss > most)
			most = marks[i].rss;
	for (size_t m = 0; m <= SPANS; m++) {
		em_attribute_exits(marks, n, 1000, exits, EXITS, spans, m, out);
		for (size_t i = 0; i < m; i++)
			if (out[i].peak_rss_bytes < -1 || out[i].peak_rss_bytes > most)
				abort();
	}
}

static void marks(const uint8_t *data, size_t size)
{
	static em_mark in[EM_MARKS_PARSE_MAX], back[EM_MARKS_PARSE_MAX];
	static char text[EM_MARKS_PARSE_MAX * 110];
	int n = em_marks_parse((const char *)data, size, in, EM_MARKS_PARSE_MAX);
	int len;

	if (n < 0) {
		if (!*em_error_text(n))
			abort();
		return;
	}
	len = em_marks_json(in, (size_t)n, text, sizeof(text));
	if (len < 0 || (size_t)len >= sizeof(text) ||
	    em_marks_parse(text, (size_t)len, back, EM_MARKS_PARSE_MAX) != n)
		abort();
	for (int i = 0; i < n; i++)
		if (in[i].at != back[i].at || in[i].rss != back[i].rss ||
		    in[i].cpu != back[i].cpu || in[i].cpus != back[i].cpus)
			abort();
	if (size)
		share(in, (size_t)n, data, size);
}

static void usage(const uint8_t *data, size_t size)
{
	em_usage in, back;
	char text[256], words[512];
	int len;

	if (em_usage_parse((const char *)data, size, &in))
		return;
	len = em_usage_json(&in, text, sizeof(text));
	if (len < 0 || (size_t)len >= sizeof(text) || em_usage_parse(text, (size_t)len, &back) ||
	    in.peak_rss_bytes != back.peak_rss_bytes || in.cpu_seconds != back.cpu_seconds ||
	    in.peak_cpus != back.peak_cpus)
		abort();
	em_usage_text(&in, words, sizeof(words));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	marks(data, size);
	usage(data, size);
	return 0;
}
