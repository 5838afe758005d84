// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tiny - a program that touches 64 KiB, half of it on each of two CPUs, and nothing else
 *
 * Built with -DTINY_NOLIBC -static -nostdlib (tests/work/Makefile: tiny-nolibc) it has no library
 * at all: about 20 pages, all of them below the batch of the kernel's per-CPU counters; so for a
 * 32-bit program too (tiny-32).  As an ordinary program it does the same with a libc around it.
 * Prints its own smaps_rollup as it stays until the end.
 *
 *   tiny [exit | read | exec PROGRAM [ARGUMENT...]]
 *
 * Without a library it ends by exit_group(2), or: by exit(2); once its input has ended; by becoming
 * PROGRAM.
 */
#ifdef TINY_NOLIBC
#else
#include <stdlib.h>
#endif
#include <asm/unistd.h>

#define PAGE      4096
#define HALF      (32 * 1024)
#define O_READ    0
#define AT_FDCWD_ (-100)

static char area[2 * HALF] __attribute__((aligned(PAGE)));
static char text[PAGE] __attribute__((aligned(PAGE)));

static long call4(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__i386__)
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "tiny.c: add this machine's system call"
#endif
}

static long call3(long nr, long a, long b, long c)
{
	return call4(nr, a, b, c, 0);
}

static void touch_on(int cpu, char *at)
{
	unsigned long mask = 1UL << cpu;

	call3(__NR_sched_setaffinity, 0, sizeof(mask), (long)&mask); /* one CPU only: stay */
	for (int i = 0; i < HALF; i += PAGE)
		*(volatile char *)(at + i) = 1;
}

static long rollup_read(void)
{
	long fd = call4(__NR_openat, AT_FDCWD_, (long)"/proc/self/smaps_rollup", O_READ, 0);
	long n = call3(__NR_read, fd, (long)text, sizeof(text));

	call3(__NR_close, fd, 0, 0);
	return n;
}

static int run(void)
{
	long n;

	touch_on(0, area);
	touch_on(1, area + HALF);
	text[0] = 1;
	rollup_read(); /* the second reading finds all that the first one needed */
	n = rollup_read();
	if (n > 0)
		call3(__NR_write, 1, (long)text, n);
	return n > 0 ? 0 : 111;
}

#ifdef TINY_NOLIBC
/* The stack as exec leaves it. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
#elif defined(__i386__)
__asm__(".globl _start\n_start: mov %esp, %eax\nand $-16, %esp\nsub $12, %esp\npush %eax\n"
	"call begin\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\nbl begin\n");
#endif

void begin(long *stack);

void begin(long *stack)
{
	char **argv = (char **)(stack + 1), byte;
	const char *how = stack[0] > 1 ? argv[1] : "";
	int status = run();

	if (how[0] == 'r')
		while (call3(__NR_read, 0, (long)&byte, 1) == 1)
			;
	if (how[0] == 'e' && how[2] == 'e')
		call3(__NR_execve, (long)argv[2], (long)(argv + 2), (long)(argv + stack[0] + 1));
	if (how[0] == 'e' && how[2] == 'i')
		call3(__NR_exit, status, 0, 0);
	call3(__NR_exit_group, status, 0, 0);
	for (;;)
		;
}
#else
int main(void)
{
	exit(run());
}
#endif
