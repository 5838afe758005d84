// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold - one process that does a list of steps with its memory, then ends in a given way
 *
 *   touch=N huge=N shmem=N   take N MiB (small pages, huge pages, shared anonymous)
 *   populate=N               take N MiB in small pages by one system call
 *   chunks=N                 take N mappings of 1 MiB
 *   free                     give back what the last such step took
 *   nodump                   keep it all out of core dumps
 *   print                    print pid, rss (smaps_rollup) and hwm (VmHWM) as they are now
 *   burn=MS idle=MS          use MS of CPU; wait MS without any
 *   clearrefs                write 5 to the own clear_refs
 *   tell=FIFO wait=FIFO      write the pid into a fifo; wait for a byte from one
 *   core                     raise the core limit to its maximum
 *   pause                    wait in pause(2), its page already there
 *   exit=N kill=N abort segv end so; exec PROGRAM ARG... becomes that
 */
#include "work.h"

#define USAGE     "STEP... (see the head of hold.c)"
#define MAX_HOLDS 4096

static struct {
	char *at;
	size_t bytes;
	int step; /* which word took it */
} holds[MAX_HOLDS];
static int nr_holds;

static void hold_add(char *at, size_t bytes, int step)
{
	if (nr_holds == MAX_HOLDS)
		usage(USAGE);
	touch(at, bytes);
	holds[nr_holds].at = at;
	holds[nr_holds].bytes = bytes;
	holds[nr_holds++].step = step;
}

static void hold_shared(size_t bytes, int step)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	hold_add(p, bytes, step);
}

static void hold_free(void)
{
	int step = nr_holds ? holds[nr_holds - 1].step : -1;

	for (; nr_holds && holds[nr_holds - 1].step == step; nr_holds--)
		munmap(holds[nr_holds - 1].at, holds[nr_holds - 1].bytes);
}

static void core_allow(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_CORE, &lim))
		die("getrlimit");
	lim.rlim_cur = lim.rlim_max;
	if (setrlimit(RLIMIT_CORE, &lim))
		die("setrlimit");
}

static void clear_refs(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "5", 1) != 1)
		die("clear_refs");
	close(fd);
}

/* Steps that take or give memory; false when @word is none of them. */
static bool memory_step(const char *word, int step)
{
	const char *v;

	if ((v = value_of(word, "touch")))
		hold_add(map_small(number(v) * MIB), number(v) * MIB, step);
	else if ((v = value_of(word, "huge")))
		hold_add(map_huge(number(v) * MIB), number(v) * MIB, step);
	else if ((v = value_of(word, "populate")))
		hold_add(hold_small(number(v) * MIB), number(v) * MIB, step);
	else if ((v = value_of(word, "shmem")))
		hold_shared(number(v) * MIB, step);
	else if ((v = value_of(word, "chunks")))
		for (unsigned long i = number(v); i; i--)
			hold_add(map_small(MIB), MIB, step);
	else if (!strcmp(word, "free"))
		hold_free();
	else if (!strcmp(word, "nodump"))
		for (int i = 0; i < nr_holds; i++)
			madvise(holds[i].at, holds[i].bytes, MADV_DONTDUMP);
	else
		return false;
	return true;
}

/* Steps after which the process is another one or none. */
static bool end_step(char **word)
{
	const char *v;

	if ((v = value_of(*word, "exit"))) {
		end_now((int)number(v));
	} else if ((v = value_of(*word, "kill"))) {
		kill(getpid(), (int)number(v));
		pause();
	} else if (!strcmp(*word, "abort")) {
		abort();
	} else if (!strcmp(*word, "segv")) {
		*(volatile char *)8 = 1;
	} else if (!strcmp(*word, "pause")) {
		for (;;)
#ifdef SYS_pause
			syscall(SYS_pause);
#else
			syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
#endif
	} else if (!strcmp(*word, "exec") && word[1]) {
		exec_checked(word + 1);
	}
	return false;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage(USAGE);
	for (int i = 1; i < argc; i++) {
		const char *v;

		if (memory_step(argv[i], i))
			continue;
		if (!strcmp(argv[i], "print")) {
			rss_bytes(0); /* first reading touches what reading needs */
			hwm_bytes(0);
			dprintf(1, "pid=%d\n", getpid());
			dprintf(1, "rss=%lu\n", rss_bytes(0));
			dprintf(1, "hwm=%lu\n", hwm_bytes(0));
		} else if ((v = value_of(argv[i], "burn"))) {
			burn_ns(CLOCK_PROCESS_CPUTIME_ID, number(v) * NS_PER_MS);
		} else if ((v = value_of(argv[i], "idle"))) {
			idle_ms(number(v));
		} else if ((v = value_of(argv[i], "tell"))) {
			fifo_tell(v);
		} else if ((v = value_of(argv[i], "wait"))) {
			fifo_wait(v);
		} else if (!strcmp(argv[i], "clearrefs")) {
			clear_refs();
		} else if (!strcmp(argv[i], "core")) {
			core_allow();
		} else if (!end_step(argv + i)) {
			usage(USAGE);
		}
	}
	end_now(0);
}
