// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads HOW ... - one process with several threads
 *
 *   onebyone N MS         N threads, all alive at once, burn MS each and end one after another
 *   leaderfirst MS CODE   the leader ends first; then a worker burns MS and exits with CODE
 *   nonleader PROGRAM...  a thread that is not the leader execs
 *   execstorm N COUNT     N threads wait while the leader execs this again, COUNT times in all
 *   killed N MIB          N threads hold MIB each; then SIGKILL to the process
 *   segv N                N threads; one touches what is not there
 *   atonce N COUNT        COUNT processes one after another, each of N threads that all end at
 *                         once by themselves, the leader too
 *   spread PAGES MORE     on each CPU a thread touches PAGES pages, and MORE that it gives back;
 *                         prints cpus, top (with MORE), and at the end maxrss, hwm and rss
 *   growexec MIB PROGRAM...  a thread still takes MIB while the leader execs and cannot stop before
 *                         it has them; prints truth, what the old image had in the end
 */
#include "work.h"
#include <pthread.h>

#define USAGE       "onebyone|leaderfirst|nonleader|execstorm|killed|segv|atonce|spread|growexec ..."
#define MAX_THREADS 256

static pthread_barrier_t barrier;
static pthread_t ids[MAX_THREADS];
static pthread_t leader;
static uint64_t burn_each_ns;
static size_t hold_bytes;
static int exit_code;
static char **program;
static volatile int turn; /* which thread may burn and end, by futex */

static pthread_t thread_start(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	errno = pthread_create(&id, &attr, run, arg);
	if (errno)
		die("pthread_create");
	pthread_attr_destroy(&attr);
	return id;
}

/* Starts @n threads and returns when all of them are past the barrier. */
static void threads_start(unsigned long n, void *(*run)(void *))
{
	if (!n || n > MAX_THREADS)
		usage(USAGE);
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (uintptr_t i = 0; i < n; i++)
		ids[i] = thread_start(run, (void *)i);
	pthread_barrier_wait(&barrier);
}

static void *run_one(void *arg)
{
	int mine = (int)(uintptr_t)arg, now;

	pthread_barrier_wait(&barrier);
	while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT, now, NULL, NULL, 0);
	burn_ns(CLOCK_THREAD_CPUTIME_ID, burn_each_ns);
	return NULL;
}

static int one_by_one(unsigned long n)
{
	threads_start(n, run_one);
	for (unsigned long i = 0; i < n; i++) {
		if (i) {
			__atomic_store_n(&turn, (int)i, __ATOMIC_RELEASE);
			syscall(SYS_futex, &turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		}
		pthread_join(ids[i], NULL);
	}
	return 0;
}

static void *run_last(void *arg)
{
	(void)arg;
	pthread_join(leader, NULL);
	burn_ns(CLOCK_THREAD_CPUTIME_ID, burn_each_ns);
	exit(exit_code);
}

static void *run_exec(void *arg)
{
	(void)arg;
	exec_checked(program);
}

static void *run_hold(void *arg)
{
	(void)arg;
	if (hold_bytes)
		hold_small(hold_bytes);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static void *run_fault(void *arg)
{
	pthread_barrier_wait(&barrier);
	if (!arg)
		*(volatile char *)8 = 1;
	for (;;)
		pause();
	return NULL;
}

/*
 * One read of a memfd into untouched memory: tmpfs looks at no signal on the way, so that the
 * thread is killed by the exec only when all of it is resident.
 */
static void *run_grow(void *arg)
{
	int fd = memfd_create("source", MFD_CLOEXEC);

	pin(1);
	if (fd < 0 || ftruncate(fd, (off_t)hold_bytes))
		die("memfd");
	if (read(fd, arg, hold_bytes) != (ssize_t)hold_bytes)
		die("read");
	return NULL;
}

static _Noreturn void grow_exec(void)
{
	char *area = map_small(hold_bytes);
	unsigned char resident = 0;

	area[0] = 1; /* the first fault of a mapping is one that a signal may stop */
	rss_bytes(0);
	dprintf(1, "truth=%lu\n", rss_bytes(0) + hold_bytes - 4096);
	thread_start(run_grow, area);
	pin(0); /* after the start: the thread has the whole mask to choose from */
	while (!(resident & 1))
		if (mincore(area + 64 * 4096, 1, &resident))
			die("mincore");
	exec_checked(program);
}

static char *spread_area;
static size_t spread_bytes, more_bytes; /* of one thread */

static void *run_spread(void *arg)
{
	size_t all = spread_bytes + more_bytes;
	char *mine = spread_area + (uintptr_t)arg * all;

	pin((int)(uintptr_t)arg);
	touch(mine, all);
	pthread_barrier_wait(&barrier); /* it all is there */
	pthread_barrier_wait(&barrier); /* it was measured */
	if (more_bytes && madvise(mine + spread_bytes, more_bytes, MADV_DONTNEED))
		die("madvise");
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static _Noreturn void spread(unsigned long pages, unsigned long more)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long n = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
	struct rusage ru;
	uint64_t top, hwm;

	spread_bytes = pages * page;
	more_bytes = more * page;
	spread_area = map_small(n * (spread_bytes + more_bytes));
	dprintf(1, "cpus=%lu\n", n);
	threads_start(n, run_spread);
	rss_bytes(0);
	hwm_bytes(0);
	top = rss_bytes(0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	getrusage(RUSAGE_SELF, &ru);
	hwm = hwm_bytes(0);
	dprintf(1, "top=%lu\nmaxrss=%lu\nhwm=%lu\n", top, ru.ru_maxrss * 1024UL, hwm);
	dprintf(1, "rss=%lu\n", rss_bytes(0));
	end_now(0);
}

static _Noreturn void exec_storm(char **argv)
{
	unsigned long count = number(argv[3]);
	char left[24];

	if (!count)
		end_now(0);
	threads_start(number(argv[2]), run_hold);
	snprintf(left, sizeof(left), "%lu", count - 1);
	argv[3] = left;
	execv("/proc/self/exe", argv);
	die("exec");
}

static void *run_end(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	__atomic_add_fetch(&turn, -1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE))
		sched_yield();
	syscall(SYS_exit, 0);
	return NULL;
}

static int at_once(unsigned long n, unsigned long count)
{
	pid_t pid;
	int status;

	for (unsigned long i = 0; i < count; i++) {
		pid = fork_checked();
		if (!pid) {
			turn = (int)n;
			threads_start(n - 1, run_end);
			__atomic_add_fetch(&turn, -1, __ATOMIC_ACQ_REL);
			while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE))
				sched_yield();
			syscall(SYS_exit, 0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			die("child");
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";

	leader = pthread_self();
	program = argv + 2;
	if (!strcmp(how, "nonleader")) {
		thread_start(run_exec, NULL);
		for (;;)
			pause();
	}
	if (!strcmp(how, "segv")) {
		threads_start(number(argv[2]), run_fault);
		for (;;)
			pause();
	}
	if (argc < 4)
		usage(USAGE);
	if (!strcmp(how, "onebyone")) {
		burn_each_ns = number(argv[3]) * NS_PER_MS;
		return one_by_one(number(argv[2]));
	}
	if (!strcmp(how, "atonce"))
		return at_once(number(argv[2]), number(argv[3]));
	if (!strcmp(how, "leaderfirst")) {
		burn_each_ns = number(argv[2]) * NS_PER_MS;
		exit_code = (int)number(argv[3]);
		thread_start(run_last, NULL);
		pthread_exit(NULL);
	}
	if (!strcmp(how, "killed")) {
		hold_bytes = number(argv[3]) * MIB;
		threads_start(number(argv[2]), run_hold);
		rss_bytes(0);
		dprintf(1, "pid=%d\nrss=%lu\n", getpid(), rss_bytes(0));
		kill(getpid(), SIGKILL);
	}
	if (!strcmp(how, "execstorm"))
		exec_storm(argv);
	if (!strcmp(how, "spread"))
		spread(number(argv[2]), number(argv[3]));
	if (!strcmp(how, "growexec")) {
		program = argv + 3;
		hold_bytes = number(argv[2]) * MIB;
		grow_exec();
	}
	usage(USAGE);
}
