// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_exited - any bytes as what a worker sends, packed or not
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/exited.h"
#include "serve/gunzip.h"

#define PLAIN_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of it keeps its promises. */
static void check(const struct exited *e)
{
	const size_t len = strlen(e->run);

	if (!len || len > EXITED_RUN_MAX || e->pid < 1 || e->worker < 0 || e->start < 0 ||
	    e->max_rss < -1 || e->n_marks > EM_MARKS_PARSE_MAX || e->n_exits > EXITED_EXITS_MAX)
		abort();
	for (size_t i = 0; i < e->n_marks; i++) {
		const em_mark *m = &e->marks[i];

		if (!isfinite(m->at) || !isfinite(m->cpu) || !isfinite(m->cpus) || m->rss < -1 ||
		    (i && m->at > e->marks[i - 1].at))
			abort();
	}
	for (size_t i = 0; i < e->n_exits; i++) {
		const em_exit *x = &e->exits[i];

		if (!isfinite(x->started) || !isfinite(x->ended) || !isfinite(x->cpu) ||
		    x->peak_rss < -1 || x->started < x->ended)
			abort();
	}
}

static void parse(const char *text, size_t len)
{
	char why[EXITED_WHY_MAX];
	struct exited *e;

	if (!exited_parse(text, len, &e, why))
		check(e);
	else if (e || !*why || strlen(why) >= EXITED_WHY_MAX)
		abort();
	exited_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *plain;
	size_t len;

	parse((const char *)data, size);
	if (gunzip((const char *)data, size, PLAIN_MAX, &plain, &len))
		return 0;
	if (len > PLAIN_MAX)
		abort();
	parse(plain, len);
	free(plain);
	return 0;
}
