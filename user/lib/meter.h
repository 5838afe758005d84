/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter - what is inside an em_meter (SPEC 1.5 to 1.7), for exitmeter itself and the tests
 */
#ifndef METER_H
#define METER_H

#include "lib/exitmeter.h"

struct em_meter {
	struct em_mark *marks; /* @cap of them, owned */
	uint32_t *samples;     /* how many samples each mark holds */
	size_t n, cap;
	uint32_t stride; /* U-55 */
	int64_t max_rss; /* U-44; -1 until the end */
	double min_sample_s;
	double last_at, last_cpu; /* where the next sample's cores are counted from */
	double last_cpus;         /* of the newest sample or reading; -1 none */
	bool sampled, ended;
};

/* @cap: marks kept, at least 4 (EM_MAX_MARKS but in tests).  Returns 0 or -ENOMEM. */
int em_meter_init(struct em_meter *m, double now, double min_sample_s, size_t cap);
void em_meter_clear(struct em_meter *m); /* NULL is fine */

/*
 * For exitmeter itself: a look that could not tell the CPU.  Its cores are not known, and the next
 * sample's are counted from the last whose CPU is.
 */
void em_meter_memory(struct em_meter *m, int64_t rss, double now);

#endif /* METER_H */
