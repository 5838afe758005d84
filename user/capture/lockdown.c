// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/lockdown.h"

#include <stdio.h>
#include <string.h>

bool kernel_locked_down(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";
	bool locked;

	if (!f)
		return false;
	locked = fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
	fclose(f);
	return locked;
}
