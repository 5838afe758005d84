// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * share - a caller of libexitmeter in C: shares a meter out among attempts
 *
 * stdin: marks as JSON on the first line, max_rss on the second, then one attempt a line, "ID
 * STARTED ENDED" in seconds before now.  stdout: a line of JSON for each attempt, and its text.
 */
#include <exitmeter.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_MAX 100

int main(void)
{
	static em_mark marks[EM_MARKS_PARSE_MAX];
	static em_span spans[SPANS_MAX];
	static em_usage usages[SPANS_MAX];
	char *line = NULL, json[256], text[128];
	size_t cap = 0, m = 0;
	int64_t max_rss;
	int n;

	if (getline(&line, &cap, stdin) < 0)
		return 2;
	n = em_marks_parse(line, strlen(line), marks, EM_MARKS_PARSE_MAX);
	if (n < 0) {
		fprintf(stderr, "marks: %s\n", em_error_text(n));
		free(line);
		return 1;
	}
	if (scanf("%" SCNd64, &max_rss) != 1)
		return 2;
	while (m < SPANS_MAX &&
	       scanf("%" SCNd64 "%lf%lf", &spans[m].id, &spans[m].started, &spans[m].ended) == 3)
		m++;
	em_attribute(marks, (size_t)n, max_rss, spans, m, usages);
	for (size_t i = 0; i < m; i++) {
		em_usage_json(&usages[i], json, sizeof(json));
		em_usage_text(&usages[i], text, sizeof(text));
		printf("%s\t%s\n", json, text);
	}
	free(line);
	return 0;
}
