// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chain [STEP...] MIB... - processes that fork the next without an exec, all alive at one time
 *
 * Each takes its MIB and forks the next, which inherits all that was taken before.  When the last
 * has taken its own it adds up the shares of all (pss, from smaps_rollup) and their resident bytes
 * (rss), and prints both as truths; then it does the steps, and all end.
 *
 *   shared=MIB    first: what all map as one shared area, each touching all of it
 *   idle=MS       wait, while all are there
 *   tell=FIFO wait=FIFO   write the pid into a fifo; wait for a byte from one
 */
#include "work.h"

#define LINKS_MAX 64

static char *shared;
static size_t shared_bytes;
static pid_t pids[LINKS_MAX];

static void print_truth(int n)
{
	uint64_t pss = 0, rss = 0;

	for (int i = 0; i < n; i++) {
		pss += proc_bytes(pids[i], "smaps_rollup", "Pss:");
		rss += proc_bytes(pids[i], "smaps_rollup", "Rss:");
	}
	dprintf(1, "pss=%lu\n", pss);
	dprintf(1, "rss=%lu\n", rss);
}

static void steps(char **words, int n)
{
	const char *v;

	for (int i = 0; i < n; i++) {
		if ((v = value_of(words[i], "idle")))
			idle_ms(number(v));
		else if ((v = value_of(words[i], "tell")))
			fifo_tell(v);
		else if ((v = value_of(words[i], "wait")))
			fifo_wait(v);
	}
}

/* What one takes; its child goes on with the next. */
static void take(const char *size)
{
	if (number(size))
		hold_small(number(size) * MIB);
	if (shared)
		touch(shared, shared_bytes);
}

static _Noreturn void links(char **sizes, int n, char **words, int n_words)
{
	for (int at = 0;; at++) {
		pid_t next;

		pids[at] = getpid();
		take(sizes[at]);
		if (at + 1 == n)
			break;
		next = fork_checked();
		if (next)
			end_now(shell_code(reap(next)));
	}
	print_truth(n);
	steps(words, n_words);
	end_now(0);
}

int main(int argc, char **argv)
{
	int first = 1;
	const char *v;

	while (first < argc && strchr(argv[first], '=')) {
		if ((v = value_of(argv[first], "shared")))
			shared_bytes = number(v) * MIB;
		first++;
	}
	if (first == argc || argc - first > LINKS_MAX)
		usage("[STEP...] MIB... (see the head of chain.c)");
	if (shared_bytes) {
		shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			die("mmap");
	}
	links(argv + first, argc - first, argv + 1, first - 1);
}
