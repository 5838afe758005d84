// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/privileges.h"

#include <errno.h>

#include <cap-ng.h>

/* Effective is what of the permitted ones @keep holds; NULL: all. */
static int set_effective(const bool *keep)
{
	if (capng_get_caps_process())
		return -EIO;
	for (unsigned int cap = 0; cap <= (unsigned int)CAP_LAST_CAP; cap++)
		if (capng_have_capability(CAPNG_PERMITTED, cap))
			capng_update(!keep || keep[cap] ? CAPNG_ADD : CAPNG_DROP, CAPNG_EFFECTIVE,
				     cap);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int privileges_take_back(void)
{
	return set_effective(NULL);
}

int privileges_drop(bool clean_up, bool for_now)
{
	static const unsigned int wanted[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
					       CAP_KILL,       CAP_BPF,
					       CAP_PERFMON,    CAP_DAC_OVERRIDE,
					       CAP_FOWNER };
	const unsigned int n = sizeof(wanted) / sizeof(wanted[0]) - (clean_up ? 0 : 2);
	const capng_type_t both = (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED);
	bool keep[CAP_LAST_CAP + 1] = { false };
	unsigned int had = 0;

	for (unsigned int i = 0; i < n; i++)
		keep[wanted[i]] = true;
	if (for_now)
		return set_effective(keep);
	if (capng_get_caps_process())
		return -EIO;
	for (unsigned int i = 0; i < n; i++)
		if (capng_have_capability(CAPNG_PERMITTED, wanted[i]))
			had |= 1u << i;
	capng_clear(CAPNG_SELECT_CAPS);
	for (unsigned int i = 0; i < n; i++)
		if (had & 1u << i)
			capng_update(CAPNG_ADD, both, wanted[i]);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}
