// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leakfree CODE - has no leak, and looks for one at its end as LeakSanitizer does
 *
 * A task of its own address space stops it by ptrace and reads its memory.  Where that is refused
 * it says so and ends with 1 (LeakSanitizer's word and status), else with CODE.  It is static, so
 * that it runs where there are no libraries, and has that library's symbol.
 */
#include "work.h"
#include <sys/ptrace.h>

static char stack[65536] __attribute__((aligned(16)));

void __lsan_init(void);

void __lsan_init(void)
{
}

static int look(void *unused)
{
	pid_t looked_at = getppid();

	(void)unused;
	if (ptrace(PTRACE_ATTACH, looked_at, NULL, NULL) ||
	    waitpid(looked_at, NULL, __WALL) != looked_at)
		_exit(1);
	ptrace(PTRACE_DETACH, looked_at, NULL, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc != 2)
		usage("CODE");
	__lsan_init();
	free(malloc(MIB));
	pid = clone(look, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			die("clone");
	if (status) {
		dprintf(2, "LeakSanitizer does not work under ptrace\n");
		return 1;
	}
	return (int)number(argv[1]);
}
