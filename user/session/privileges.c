// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/privileges.h"

#include <errno.h>

#include <cap-ng.h>

int privileges_drop(bool clean_up)
{
	static const unsigned int wanted[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
					       CAP_KILL,       CAP_BPF,
					       CAP_PERFMON,    CAP_DAC_OVERRIDE,
					       CAP_FOWNER };
	const unsigned int n = sizeof(wanted) / sizeof(wanted[0]) - (clean_up ? 0 : 2);
	const capng_type_t both = (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED);
	unsigned int had = 0;

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
