// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scale HOW ... - very many at once
 *
 *   threads N      one process with N threads, the first among them, all alive at the same moment
 *   deep N KIB     N processes, each the child of the one before, all alive at the same moment,
 * each with KIB of its own; each ends with its depth's last byte, the deepest first living N MS N
 * children that wait in pause(2) for MS together, then are killed
 */
#include "work.h"
#include <pthread.h>
#include <sys/prctl.h>

#define USAGE "threads N|deep N KIB|living N MS"

static pthread_barrier_t all_there;

static void *stay(void *arg)
{
	pthread_barrier_wait(&all_there);
	return arg;
}

static int threads(unsigned int n)
{
	pthread_attr_t small;
	pthread_t id;

	pthread_attr_init(&small);
	if (pthread_attr_setstacksize(&small, 64 * 1024) ||
	    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED) ||
	    pthread_barrier_init(&all_there, NULL, n))
		die("threads");
	for (unsigned int i = 1; i < n; i++)
		if (pthread_create(&id, &small, stay, NULL))
			die("pthread_create");
	stay(NULL);
	return 0;
}

/* The parent's is copied on the way down and shared: it is taken only once the child is there. */
static int deep(unsigned long n, unsigned long kib, unsigned long depth)
{
	int ready[2], status;
	pid_t pid;

	if (depth == n) {
		hold_small(kib * 1024);
		return (int)(depth & 0xff);
	}
	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ready[1]);
		byte_wait(ready[0]); /* so that it never has what is copied */
		close(ready[0]);
		_exit(deep(n, kib, depth + 1));
	}
	close(ready[0]);
	hold_small(kib * 1024);
	byte_send(ready[1]);
	close(ready[1]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != (int)((depth + 1) & 0xff))
		die("the child's end");
	return (int)(depth & 0xff);
}

static int living(unsigned long n, unsigned long ms)
{
	pid_t *pids = calloc(n, sizeof(*pids));

	if (!pids)
		die("calloc");
	for (unsigned long i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	idle_ms(ms);
	for (unsigned long i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (unsigned long i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
	free(pids);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "threads"))
		return threads((unsigned int)number(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "deep"))
		return deep(number(argv[2]), number(argv[3]), 1) == 1 ? 0 : 1;
	if (argc == 4 && !strcmp(argv[1], "living"))
		return living(number(argv[2]), number(argv[3]));
	usage(USAGE);
}
