/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * energy_run - the energy counters of one run: found and probed before it, read at both ends
 */
#ifndef HOST_ENERGY_RUN_H
#define HOST_ENERGY_RUN_H

#include "host/energy.h"

struct energy_run {
	bool on;
	enum energy_source choice;
	struct energy_domains domains;
	struct energy_counter *counters; /* one a domain; .of NULL: not counted */
	int *errs;                       /* of opening each */
	int64_t next_ns;
};

/*
 * Finds the counters and probes them, which takes 0.1 s; in tests those below the folder
 * EXITMETER_TEST_SYSFS.
 */
void energy_run_open(struct energy_run *r, enum energy_source choice);
/* The run begins. */
void energy_run_start(struct energy_run *r, int64_t now_ns);
/* Does something once next_ns is there: no counter may wrap twice in between. */
void energy_run_update(struct energy_run *r, int64_t now_ns);
/* The run has ended. */
void energy_run_end(struct energy_run *r, int64_t now_ns);
/* *@ret: @ret_n entries, the caller's (energies_free).  0 or -ENOMEM. */
int energy_run_tell(const struct energy_run *r, struct energy **ret, size_t *ret_n);
void energy_run_close(struct energy_run *r);

#endif /* HOST_ENERGY_RUN_H */
