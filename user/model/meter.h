/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meter - a tree's memory and CPU over time, in at most 1024 marks (SPEC 1.5 to 1.7)
 *
 * Pure arithmetic, no clock, no I/O; cannot fail after meter_init.  Times are seconds on one
 * monotonic clock; memory is bytes; -1 is "none".
 */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METER_MAX_MARKS    1024 /* SPEC 1.16 */
#define METER_MIN_SAMPLE_S 0.25 /* SPEC 1.16 */

struct mark {
	double at;   /* seconds; an age (seconds before now) once aged */
	int64_t rss; /* bytes: the most since the mark before; -1 at start and end */
	double cpu;  /* seconds so far */
	double cpus; /* most cores busy over one sample's interval; -1 none */
};

struct meter {
	struct mark *marks; /* @cap of them, owned */
	uint32_t *samples;  /* how many samples each mark holds */
	size_t n, cap;
	uint32_t stride; /* U-55 */
	int64_t max_rss; /* U-44; -1 until the end */
	double min_sample_s;
	double last_at, last_cpu; /* where the next sample's cores are counted from */
	double last_cpus;         /* of the newest sample or reading; -1 none */
	bool sampled, ended;
};

/* @cap: marks kept, at least 4 (METER_MAX_MARKS but in tests).  Returns 0 or -ENOMEM. */
int meter_init(struct meter *m, double now, double min_sample_s, size_t cap);
void meter_free(struct meter *m);

/* A periodic sample; false when dropped: sooner than min_sample_s after the last, or ended. */
bool meter_sample(struct meter *m, int64_t rss, double cpu, double now);
/* A reading that was asked for: always kept, and does not move the sampling grid (U-10). */
void meter_reading(struct meter *m, int64_t rss, double cpu, double now);
/* The process ended (U-47); later calls are ignored (U-49). */
void meter_end(struct meter *m, int64_t max_rss, double cpu, double now);

/* Copies the marks with at = now - at, oldest first; returns how many (at most @cap). */
size_t meter_aged(const struct meter *m, double now, struct mark *out, size_t cap);

/* The largest cores busy over any sample's interval so far; -1 none. */
double meter_peak_cpus(const struct meter *m);

#endif /* METER_H */
