// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_overlap - the largest sum at one moment of sizes that are known at the end only
 */
#include "model/overlap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

#define MOST 200

static void test_few(void)
{
	struct overlap o = { 0 };
	uint64_t root, a, b;

	EQ_I(overlap_largest(&o), 0, "nobody");
	root = overlap_begin(&o);
	a = overlap_begin(&o);
	overlap_end(&o, a, 100);
	b = overlap_begin(&o);
	overlap_end(&o, b, 70);
	EQ_I(overlap_largest(&o), 0, "the first still lives");
	overlap_end(&o, root, 5);
	EQ_I(overlap_largest(&o), 105, "one after the other: never both");
	overlap_free(&o);

	root = overlap_begin(&o);
	a = overlap_begin(&o);
	b = overlap_begin(&o);
	overlap_end(&o, root, 5);
	overlap_end(&o, a, 100);
	overlap_end(&o, b, 70);
	EQ_I(overlap_largest(&o), 175, "at once: all");
	overlap_free(&o);
}

/* Any order of births and ends, against adding it all up for each moment. */
static void test_any(unsigned int seed)
{
	struct overlap o = { 0 };
	uint64_t birth[MOST];
	int64_t sum[MOST] = { 0 }, size, want = 0; /* sum: just after each birth */
	bool lives[MOST][MOST] = { { false } }, open[MOST] = { false };
	size_t n = 0, living = 0, most = 0;

	srand(seed);
	while (n < MOST || living) {
		if (n < MOST && (!living || rand() % 100 < 55)) {
			birth[n] = overlap_begin(&o);
			open[n] = true;
			memcpy(lives[n], open, sizeof(open));
			n++;
			living++;
		} else {
			size_t who = (size_t)rand() % n;

			while (!open[who])
				who = (who + 1) % n;
			size = rand() % 50;
			for (size_t i = 0; i < n; i++)
				sum[i] += lives[i][who] ? size : 0;
			overlap_end(&o, birth[who], size);
			open[who] = false;
			living--;
		}
		most = o.n > living && o.n - living > most ? o.n - living : most;
	}
	for (size_t i = 0; i < n; i++)
		want = sum[i] > want ? sum[i] : want;
	EQ_I(overlap_largest(&o), want, "seed %u", seed);
	EQ_I(most, 0, "seed %u: never more kept than live", seed);
	overlap_free(&o);
}

int main(void)
{
	test_few();
	for (unsigned int seed = 1; seed <= 40; seed++)
		test_any(seed);
	return tap_done();
}
