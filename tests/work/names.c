// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names COMM CODE MS [ARG...] - takes the name COMM (any bytes, the kernel keeps 15), stays MS for
 * others to look at it and exits with CODE; further arguments are only carried.  Prints its pid.
 */
#include "work.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	if (argc < 4)
		usage("COMM CODE MS [ARG...]");
	if (prctl(PR_SET_NAME, argv[1]))
		die("prctl");
	dprintf(1, "pid=%d\n", getpid());
	idle_ms(number(argv[3]));
	return (int)number(argv[2]);
}
