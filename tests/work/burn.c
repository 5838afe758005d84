// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * burn MS - uses MS of its own CPU by CLOCK_PROCESS_CPUTIME_ID, start-up not counted
 *
 *   burn progress FILE MS   the same, the CPU used so far (ns, start-up counted) always in FILE,
 *                           one 64-bit word, so that a test knows it whoever kills the burner
 *   burn children N MS      N children one after another; prints children_us (RUSAGE_CHILDREN)
 *                           and min_us, the least that wait4 gave for one of them
 */
#include "work.h"

#define USAGE "[progress FILE | children N] MS"

static void burn_progress(const char *path, uint64_t ns)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t end = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) + ns, now;
	volatile uint64_t *word;

	if (fd < 0 || ftruncate(fd, 4096))
		die(path);
	word = share_map(fd);
	do {
		for (volatile int i = 0; i < 2000; i++)
			;
		now = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		*word = now;
	} while (now < end);
}

static void burn_children(unsigned long n, uint64_t ns)
{
	uint64_t least = UINT64_MAX;
	struct rusage ru;

	for (; n; n--) {
		pid_t pid = fork_checked();

		if (!pid) {
			burn_ns(CLOCK_PROCESS_CPUTIME_ID, ns);
			end_now(0);
		}
		while (wait4(pid, NULL, 0, &ru) != pid)
			if (errno != EINTR)
				die("wait4");
		if (rusage_us(&ru) < least)
			least = rusage_us(&ru);
	}
	if (getrusage(RUSAGE_CHILDREN, &ru))
		die("getrusage");
	dprintf(1, "children_us=%lu\nmin_us=%lu\n", rusage_us(&ru), least);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		burn_ns(CLOCK_PROCESS_CPUTIME_ID, number(argv[1]) * NS_PER_MS);
	else if (argc == 4 && !strcmp(argv[1], "progress"))
		burn_progress(argv[2], number(argv[3]) * NS_PER_MS);
	else if (argc == 4 && !strcmp(argv[1], "children"))
		burn_children(number(argv[2]), number(argv[3]) * NS_PER_MS);
	else
		usage(USAGE);
	return 0;
}
