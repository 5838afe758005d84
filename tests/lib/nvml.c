// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nvml - stands in for NVIDIA's library: two cards, of which the second cannot count
 *
 * The first has used 2 mJ more at each reading, from 5000 mJ on; where NVML_LUMPS is set it is
 * told anew at every tenth reading only, as real ones do every 20 ms or more.
 */
#include <stdlib.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned int *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **ret);
int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *ret_mj);

static int cards[2];
static unsigned long long readings;

int nvmlInit_v2(void)
{
	return 0;
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *ret)
{
	*ret = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **ret)
{
	*ret = &cards[i];
	return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *ret_mj)
{
	if (card == &cards[1])
		return 3;
	readings++;
	*ret_mj = 5000 + 2 * (getenv("NVML_LUMPS") ? readings / 10 : readings);
	return 0;
}
