/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - how long does a command take that stands behind a tool, without the tool's own start?
 *
 * usage: inside RESULT COMMAND [ARG...]
 *
 * Writes "wall_ns cpu_ns" to the file RESULT: from before the command's start until it was waited
 * for, and its CPU and that of its waited children.
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static void fail(const char *what)
{
	fprintf(stderr, "inside: %s: %s\n", what, strerror(errno));
	exit(125);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000LL + tv.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int64_t start, end;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: inside RESULT COMMAND [ARG...]\n");
		return 2;
	}
	start = now_ns();
	errno = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
	if (errno)
		fail(argv[2]);
	if (wait4(pid, &status, 0, &usage) < 0)
		fail("wait4");
	end = now_ns();
	out = fopen(argv[1], "we");
	if (!out)
		fail(argv[1]);
	fprintf(out, "%lld %lld\n", (long long)(end - start),
		(long long)(timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime)));
	if (fclose(out))
		fail(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
