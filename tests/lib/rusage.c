// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rusage - preloaded into time(1): it reads the figures in FAKE_RUSAGE instead of its child's
 *
 * FAKE_RUSAGE="elapsed_us utime_us stime_us maxrss_kb minflt majflt inblock oublock nvcsw nivcsw
 * wait_status".
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static long long fake[11];

static void __attribute__((constructor)) take_figures(void)
{
	const char *text = getenv("FAKE_RUSAGE");
	int n = 0;

	while (text && *text && n < 11) {
		char *end;

		fake[n++] = strtoll(text, &end, 10);
		text = end;
	}
	if (n != 11) {
		fputs("FAKE_RUSAGE: eleven numbers\n", stderr);
		exit(2);
	}
	unsetenv("LD_PRELOAD"); /* the command is left alone */
}

pid_t wait3(int *status, int options, struct rusage *ru)
{
	pid_t pid = wait4(-1, status, options, ru);

	if (pid <= 0)
		return pid;
	*status = (int)fake[10];
	ru->ru_utime = (struct timeval){ fake[1] / 1000000, fake[1] % 1000000 };
	ru->ru_stime = (struct timeval){ fake[2] / 1000000, fake[2] % 1000000 };
	ru->ru_maxrss = fake[3];
	ru->ru_minflt = fake[4];
	ru->ru_majflt = fake[5];
	ru->ru_inblock = fake[6];
	ru->ru_oublock = fake[7];
	ru->ru_nvcsw = fake[8];
	ru->ru_nivcsw = fake[9];
	return pid;
}

/* The first time it starts, the second time it has ended. */
int gettimeofday(struct timeval *t, void *zone)
{
	static int calls;
	long long us = 1000000000 + (calls++ ? fake[0] : 0);

	(void)zone;
	*t = (struct timeval){ us / 1000000, us % 1000000 };
	return 0;
}
