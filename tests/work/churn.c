// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * churn N [WORD...] [exec PROGRAM ARG...] - N short processes at full speed
 *
 *   jobs=J       by J workers at once (processes of their own, N/J each)
 *   big=MIB      one more, half-way, by worker 0, touches MIB
 *   start=FIFO   first write the pid into it and wait there for a byte
 *   done=FIFO    last write the pid into it and wait there for a byte
 *   vfork        children that share the memory and end at once: the cheapest exits there are
 *
 * Each is a fork that ends at once, or vfork and exec of PROGRAM.  Prints forks (all the
 * processes made), cpu_us (RUSAGE_SELF + RUSAGE_CHILDREN, taken at the end) and minflt likewise.
 */
#include "work.h"

#define USAGE "N [jobs=J] [big=MIB] [start=FIFO] [done=FIFO] [vfork] [exec PROGRAM ARG...]"

static unsigned long jobs = 1, big;
static const char *start, *done;
static bool shared;
static char **program;

static void one(void)
{
	pid_t pid = program || shared ? vfork() : fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (!program)
			_exit(0);
		execvp(program[0], program);
		_exit(111);
	}
	if (reap(pid))
		die("a short process failed");
}

static void one_big(void)
{
	pid_t pid = fork_checked();

	if (!pid) {
		hold_small(big * MIB);
		end_now(0);
	}
	reap(pid);
}

static void churn(unsigned long n, bool with_big)
{
	for (unsigned long i = 0; i < n; i++) {
		if (with_big && i == n / 2)
			one_big();
		one();
	}
}

static void words(char **word)
{
	const char *v;

	for (; *word; word++) {
		if ((v = value_of(*word, "jobs"))) {
			jobs = number(v);
		} else if ((v = value_of(*word, "big"))) {
			big = number(v);
		} else if ((v = value_of(*word, "start"))) {
			start = v;
		} else if ((v = value_of(*word, "done"))) {
			done = v;
		} else if (!strcmp(*word, "vfork")) {
			shared = true;
		} else if (!strcmp(*word, "exec") && word[1]) {
			program = word + 1;
			return;
		} else {
			usage(USAGE);
		}
	}
}

static void meet(const char *fifo)
{
	if (!fifo)
		return;
	fifo_tell(fifo);
	fifo_wait(fifo);
}

int main(int argc, char **argv)
{
	struct rusage self, children;
	unsigned long n, forks;
	pid_t pids[64];

	if (argc < 2)
		usage(USAGE);
	n = number(argv[1]);
	words(argv + 2);
	if (!jobs || jobs > 64)
		usage(USAGE);
	meet(start);
	forks = n / jobs * jobs + (big ? 1 : 0);
	if (jobs == 1) {
		churn(n, big);
	} else {
		for (unsigned long i = 0; i < jobs; i++) {
			pids[i] = fork_checked();
			if (!pids[i]) {
				churn(n / jobs, big && i == 0);
				end_now(0);
			}
		}
		for (unsigned long i = 0; i < jobs; i++)
			if (reap(pids[i]))
				end_now(1);
		forks += jobs;
	}
	meet(done);
	if (getrusage(RUSAGE_SELF, &self) || getrusage(RUSAGE_CHILDREN, &children))
		die("getrusage");
	dprintf(1, "forks=%lu\ncpu_us=%lu\nminflt=%ld\n", forks,
		rusage_us(&self) + rusage_us(&children), self.ru_minflt + children.ru_minflt);
	end_now(0);
}
