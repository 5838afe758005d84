/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work - what the programs with a known cost share
 *
 * Everything here is static inline, so that each program is one file and one gcc call.  Truths
 * are printed as "name=value" lines on stdout, memory in bytes, CPU in microseconds.  A failed
 * step ends the program with status 111, which no workload uses for itself.
 */
#ifndef WORK_H
#define WORK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB       (1024UL * 1024)
#define NS_PER_S  1000000000UL
#define NS_PER_MS 1000000UL
#define NS_PER_US 1000UL

static inline _Noreturn void die(const char *what)
{
	dprintf(2, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	_exit(111);
}

static inline _Noreturn void usage(const char *text)
{
	dprintf(2, "usage: %s %s\n", program_invocation_short_name, text);
	_exit(111);
}

/* A whole decimal number, not negative; anything else ends the program. */
static inline unsigned long number(const char *text)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end)
		die(text);
	return v;
}

/* The value behind @name in "name=value", or NULL when @word is another one. */
static inline const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* The number behind @key ("Rss:") in @file of process @pid (0: self), in bytes of kB lines. */
static inline uint64_t proc_bytes(pid_t pid, const char *file, const char *key)
{
	static char buf[8192];
	char path[64];
	const char *at;
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	n = read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		die(path);
	close(fd);
	buf[n] = '\0';
	at = strstr(buf, key);
	if (!at)
		die(key);
	return strtoull(at + strlen(key), NULL, 10) * 1024;
}

/* Resident bytes by a walk of the page tables: exact on every kernel. */
static inline uint64_t rss_bytes(pid_t pid)
{
	return proc_bytes(pid, "smaps_rollup", "Rss:");
}

static inline uint64_t hwm_bytes(pid_t pid)
{
	return proc_bytes(pid, "status", "VmHWM:");
}

/* Writes one byte into each page. */
static inline void touch(char *p, size_t bytes)
{
	size_t step = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < bytes; i += step)
		*(volatile char *)(p + i) = 1;
}

/* Untouched private memory in small pages. */
static inline char *map_small(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE); /* EINVAL where there are none: as good */
	return p;
}

/* Untouched private memory, aligned to 2 MiB, in huge pages where the machine has them. */
static inline char *map_huge(size_t bytes)
{
	char *p = mmap(NULL, bytes + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	p = (char *)(((uintptr_t)p + 2 * MIB - 1) & ~(2 * MIB - 1));
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

/* Resident small pages, by one system call where the kernel has it (5.14), else by faults. */
static inline char *hold_small(size_t bytes)
{
	char *p = map_small(bytes);

	madvise(p, bytes, MADV_POPULATE_WRITE);
	touch(p, bytes);
	return p;
}

static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		die("clock_gettime");
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Uses @ns of CPU by @clock (of the process or of the thread), not counting what came before. */
static inline void burn_ns(clockid_t clock, uint64_t ns)
{
	uint64_t end = clock_now_ns(clock) + ns;

	while (clock_now_ns(clock) < end)
		for (volatile int i = 0; i < 2000; i++)
			;
}

static inline uint64_t rusage_us(const struct rusage *ru)
{
	return (uint64_t)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec);
}

/* Waits without CPU as part of a workload's shape; never a means to order two processes. */
static inline void idle_ms(unsigned long ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000 * NS_PER_MS) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Pins the calling thread to the @nth CPU (from 0) that it may use. */
static inline void pin(int nth)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || nth-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			die("sched_setaffinity");
		return;
	}
	errno = ENODEV;
	die("not enough CPUs");
}

static inline pid_t fork_checked(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

static inline int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* As a shell gives a status on: the code, or 128 + the signal. */
static inline int shell_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void pipe_checked(int fd[2])
{
	if (pipe(fd))
		die("pipe");
}

/* Blocks until a byte or the end of the pipe comes; true for a byte. */
static inline bool byte_wait(int fd)
{
	char c;
	ssize_t n;

	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die("read");
	return n == 1;
}

static inline void byte_send(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

/*
 * Waits until someone writes into, or opens and closes, the fifo @path.  A test that failed before
 * it did so leaves nothing behind: after two minutes SIGALRM ends the wait and the process.
 */
static inline void fifo_wait(const char *path)
{
	int fd;

	alarm(120);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	byte_wait(fd);
	close(fd);
	alarm(0);
}

/* Writes this process's pid as a line into the fifo or file @path. */
static inline void fifo_tell(const char *path)
{
	char line[32];
	int n, fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		die(path);
	n = snprintf(line, sizeof(line), "%d\n", getpid());
	if (write(fd, line, (size_t)n) != n)
		die(path);
	close(fd);
}

/* A page shared by every process that inherits the descriptor, which survives an exec. */
static inline void *share_map(int fd)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static inline int share_new(void)
{
	int fd = memfd_create("share", 0);

	if (fd < 0 || ftruncate(fd, 4096))
		die("memfd");
	return fd;
}

/* Busy waiting is the point of the programs that use it: a switch would tell their secret. */
static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static inline void spin_until(const volatile int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		spin_pause();
}

static inline void spin_set(volatile int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline _Noreturn void exec_checked(char *const argv[])
{
	execvp(argv[0], argv);
	die(argv[0]);
}

/* The end of a process whose memory must stay as it was measured: no exit handlers. */
static inline _Noreturn void end_now(int code)
{
	syscall(SYS_exit_group, code);
	__builtin_unreachable();
}

#endif /* WORK_H */
