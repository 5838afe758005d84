/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fill - takes 1 MiB two hundred times, a write each, as a program that reads a file into memory */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1 << 20)

int main(void)
{
	for (int i = 0; i < 200; i++) {
		char *at =
			mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return 1;
		memset(at, 1, MIB);
	}
	return 0;
}
