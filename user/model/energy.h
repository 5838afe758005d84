/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * energy - what a counter of the machine says over the run's time (SPEC 4.4)
 *
 * Never the tree's own energy: each counter's domain is wider than the run (SPEC J-30).
 */
#ifndef MODEL_ENERGY_H
#define MODEL_ENERGY_H

#include <stddef.h>
#include <stdint.h>

struct energy {
	char *source;             /* "rapl", "perf", "nvml", "hwmon" */
	char *domain;             /* "package-0"; NULL: the source has none here */
	char *covers;             /* what it counts and what not, in words */
	int64_t start_uj, end_uj; /* the counter; UNKNOWN: not read */
	int64_t delta_uj;         /* UNKNOWN: no measurement, as @reason says */
	int64_t wraps;            /* of the counter meanwhile */
	char *quality;            /* "measured"; NULL: there is no figure */
	char *status;             /* "live", "stale", "denied", "unavailable" */
	char *reason;             /* why there is no figure; NULL */
};

struct energy energy_blank(void); /* all unknown */
void energies_free(struct energy *e, size_t n);
/* The sockets of one source together; UNKNOWN: fewer than two, or not all are measured (J-32). */
int64_t energy_packages_uj(const struct energy *e, size_t n);

#endif /* MODEL_ENERGY_H */
