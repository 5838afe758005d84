/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * energy_find - the energy counters of this machine, a function a source
 *
 * Each adds its counters, or one without a name that says why there is none.  @root is where sysfs
 * is mounted: "/sys", or a folder that tests made.
 */
#ifndef HOST_ENERGY_FIND_H
#define HOST_ENERGY_FIND_H

#include "host/energy.h"

void energy_find_rapl(struct energy_domains *all, const char *root); /* powercap */
void energy_find_perf(struct energy_domains *all, const char *root); /* the PMU "power" */
void energy_find_hwmon(struct energy_domains *all, const char *root);
void energy_find_nvml(struct energy_domains *all); /* libnvidia-ml.so.1 */

/* For those: there is no counter, for @reason. */
void energy_add_none(struct energy_domains *all, enum energy_source source, int err,
		     const char *reason);
/* One that is read from a file of one number of microjoules. */
void energy_add_file(struct energy_domains *all, const struct energy_domain *d, const char *path);

#endif /* HOST_ENERGY_FIND_H */
