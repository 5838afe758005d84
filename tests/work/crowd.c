// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd N - N children that are there at once and end at once
 *
 * Prints forks.
 */
#include "work.h"

int main(int argc, char **argv)
{
	unsigned long n = argc == 2 ? number(argv[1]) : 0;
	int go[2];

	if (!n)
		usage("N");
	pipe_checked(go);
	for (unsigned long i = 0; i < n; i++) {
		if (fork_checked())
			continue;
		close(go[1]);
		byte_wait(go[0]);
		end_now(0);
	}
	dprintf(1, "forks=%lu\n", n);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
