/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load - does one thing N times, and says what that cost
 *
 * usage: load exec|true|thread|fault|syscall|pipe N RESULT [CPU]
 *
 * Writes "wall_ns cpu_ns" to the file RESULT.  CPU is user and system time of itself and of its
 * ended children: the kernel scales both from the scheduler's exact sum, and what a BPF program
 * spends in a task's context is in it.  With CPU it keeps itself and its children on that one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAULT_PAGES 1024
#define THREADS     50
#define SHELL_BYTES (4 << 20)

static void fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
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

static int64_t rusage_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
		fail("getrusage");
	return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	if (status != 0) {
		errno = ECHILD;
		fail("a child failed");
	}
}

/* The program `nothing` lies beside this one. */
static void load_exec(long count)
{
	char path[4096];
	char *const argv[] = { "nothing", NULL };
	char *const envp[] = { NULL };
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("nothing"));
	pid_t pid;

	if (len < 0)
		fail("/proc/self/exe");
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, "nothing");

	for (long i = 0; i < count; i++) {
		errno = posix_spawn(&pid, path, NULL, NULL, argv, envp);
		if (errno)
			fail(path);
		wait_for(pid);
	}
}

/* fork and exec of a dynamic program by a parent of the size of a shell. */
static void load_true(long count)
{
	char *own = malloc(SHELL_BYTES);
	pid_t pid;

	if (!own)
		fail("malloc");
	memset(own, 1, SHELL_BYTES);

	for (long i = 0; i < count; i++) {
		pid = fork();
		if (pid < 0)
			fail("fork");
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		wait_for(pid);
	}
	free(own);
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* Threads that end at once, THREADS of them begun before the first is joined. */
static void load_thread(long count)
{
	pthread_t ids[THREADS];

	for (long i = 0; i < count; i += THREADS) {
		for (int k = 0; k < THREADS; k++) {
			errno = pthread_create(&ids[k], NULL, end_at_once, NULL);
			if (errno)
				fail("pthread_create");
		}
		for (int k = 0; k < THREADS; k++)
			pthread_join(ids[k], NULL);
	}
}

/* Each round faults in and gives back FAULT_PAGES small pages. */
static void load_fault(long count)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = FAULT_PAGES * page;
	char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		fail("mmap");
	madvise(mem, size, MADV_NOHUGEPAGE);
	for (long i = 0; i < count; i++) {
		for (size_t at = 0; at < size; at += page)
			((volatile char *)mem)[at] = 1;
		if (madvise(mem, size, MADV_DONTNEED) < 0)
			fail("madvise");
	}
	munmap(mem, size);
}

static void load_syscall(long count)
{
	for (long i = 0; i < count * 1000; i++)
		syscall(SYS_getppid);
}

static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			_exit(1);
	_exit(0);
}

static void load_pipe(long count)
{
	int there[2], back[2];
	char byte = 'x';
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0)
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		close(there[1]);
		close(back[0]);
		echo(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	for (long i = 0; i < count; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("ping-pong");
	close(there[1]);
	wait_for(pid);
}

static const struct {
	const char *name;
	void (*run)(long count);
} loads[] = {
	{ "exec", load_exec },   { "true", load_true },       { "thread", load_thread },
	{ "fault", load_fault }, { "syscall", load_syscall }, { "pipe", load_pipe },
};

static void keep_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		fail("sched_setaffinity");
}

int main(int argc, char **argv)
{
	int64_t wall_ns, cpu_ns;
	FILE *result;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: load exec|true|thread|fault|syscall|pipe N RESULT [CPU]\n");
		return 2;
	}
	if (argc == 5)
		keep_on(atoi(argv[4]));

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (strcmp(loads[i].name, argv[1]) != 0)
			continue;
		/* Not what this process was before it was exec'd. */
		cpu_ns = rusage_ns(RUSAGE_SELF) + rusage_ns(RUSAGE_CHILDREN);
		wall_ns = now_ns();
		loads[i].run(atol(argv[2]));
		wall_ns = now_ns() - wall_ns;
		cpu_ns = rusage_ns(RUSAGE_SELF) + rusage_ns(RUSAGE_CHILDREN) - cpu_ns;

		result = fopen(argv[3], "we");
		if (!result)
			fail(argv[3]);
		fprintf(result, "%lld %lld\n", (long long)wall_ns, (long long)cpu_ns);
		if (fclose(result) != 0)
			fail(argv[3]);
		return 0;
	}
	fprintf(stderr, "load: no such workload: %s\n", argv[1]);
	return 2;
}
