// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * remap - maps and unmaps memory in a loop, and says how long the slowest steps took
 *
 * usage: remap HELD MIB SECONDS
 *
 * Holds HELD MiB in small pages all the time, then maps MIB MiB, touches all of it (in huge pages
 * where the machine has them) and unmaps it, again and again for SECONDS.  Prints "rounds map_us
 * touch_us unmap_us round_us": the slowest of each step, and of a whole round.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static char *map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "remap: mmap: %s\n", strerror(errno));
		exit(111);
	}
	return p;
}

static void touch(char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		*(volatile char *)(p + i) = 1;
}

static void largest(int64_t *of, int64_t v)
{
	if (v > *of)
		*of = v;
}

int main(int argc, char **argv)
{
	int64_t end, most[4] = { 0 };
	size_t held, bytes;
	long rounds = 0;
	char *p;

	if (argc != 4) {
		fprintf(stderr, "usage: remap HELD MIB SECONDS\n");
		return 111;
	}
	held = strtoul(argv[1], NULL, 10) * MIB;
	bytes = strtoul(argv[2], NULL, 10) * MIB;
	if (held) {
		p = map(held);
		madvise(p, held, MADV_NOHUGEPAGE);
		touch(p, held);
	}
	for (end = now_us() + strtol(argv[3], NULL, 10) * 1000000; now_us() < end; rounds++) {
		int64_t at[4];

		at[0] = now_us();
		p = map(bytes);
		at[1] = now_us();
		madvise(p, bytes, MADV_HUGEPAGE);
		touch(p, bytes);
		at[2] = now_us();
		munmap(p, bytes);
		at[3] = now_us();
		for (int i = 0; i < 3; i++)
			largest(&most[i], at[i + 1] - at[i]);
		largest(&most[3], at[3] - at[0]);
	}
	printf("%ld %lld %lld %lld %lld\n", rounds, (long long)most[0], (long long)most[1],
	       (long long)most[2], (long long)most[3]);
	return 0;
}
