// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * target HOW ... - something that runs already, to be attached to; each ends after S seconds
 *
 *   forks S FILE HZ   forks a child that ends at once, HZ times a second (0: at full speed); FILE
 *                     holds two 64-bit words: forks so far and the slowest of them (ns) since the
 *                     second word was last set to 0 from outside
 *   crowd S           a thread that spins, one that sleeps and wakes, threads that come and go, a
 *                     child that wakes all the time
 *   successors S      a process that forks its successor and ends, and so on; their orphans come
 *                     back to the first, which waits
 */
#include "work.h"
#include <pthread.h>
#include <sys/prctl.h>

#define USAGE "forks S FILE HZ | crowd S | successors S"

static uint64_t end_ns;

static bool over(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) >= end_ns;
}

static void forks(const char *path, unsigned long hz)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	volatile uint64_t *words;

	if (fd < 0 || ftruncate(fd, 4096))
		die(path);
	words = share_map(fd);
	while (!over()) {
		uint64_t start = clock_now_ns(CLOCK_MONOTONIC), took;
		pid_t pid = fork_checked();

		if (!pid)
			_exit(0);
		took = clock_now_ns(CLOCK_MONOTONIC) - start;
		words[0]++;
		if (took > words[1])
			words[1] = took;
		waitpid(pid, NULL, 0);
		if (hz)
			idle_ms(1000 / hz);
	}
}

static void *spin(void *unused)
{
	(void)unused;
	while (!over())
		;
	return NULL;
}

static void *nap(void *unused)
{
	(void)unused;
	while (!over())
		idle_ms(1);
	return NULL;
}

static void *brief(void *unused)
{
	(void)unused;
	burn_ns(CLOCK_THREAD_CPUTIME_ID, NS_PER_MS / 4);
	return NULL;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t id;

	errno = pthread_create(&id, NULL, run, NULL);
	if (errno)
		die("pthread_create");
	return id;
}

static void crowd(void)
{
	pid_t pid = fork_checked();

	if (!pid) {
		nap(NULL);
		_exit(0);
	}
	start(spin);
	start(nap);
	while (!over())
		pthread_join(start(brief), NULL);
	waitpid(pid, NULL, 0);
}

static void successors(void)
{
	signal(SIGCHLD, SIG_IGN);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die("prctl");
	if (fork_checked()) {
		while (!over())
			idle_ms(10);
		return;
	}
	while (!over())
		if (fork_checked())
			_exit(0);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		usage(USAGE);
	end_ns = clock_now_ns(CLOCK_MONOTONIC) + number(argv[2]) * NS_PER_S;
	if (!strcmp(argv[1], "forks") && argc == 5)
		forks(argv[3], number(argv[4]));
	else if (!strcmp(argv[1], "crowd") && argc == 3)
		crowd();
	else if (!strcmp(argv[1], "successors") && argc == 3)
		successors();
	else
		usage(USAGE);
	return 0;
}
