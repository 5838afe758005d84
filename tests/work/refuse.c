// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * refuse - makes the kernel refuse system calls with EPERM, then becomes a program
 *
 *   refuse CALL... -- PROGRAM ARG...    CALL: bpf, perf_event_open, ptrace, memfd_create
 *
 * By a seccomp filter, as a container's would; it stays over fork and exec.  Needs CAP_SYS_ADMIN or
 * else sets no_new_privs.
 */
#include "work.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define USAGE     "CALL... -- PROGRAM ARG... (see the head of refuse.c)"
#define CALLS_MAX 8

static unsigned int call_number(const char *name)
{
	static const struct {
		const char *name;
		unsigned int nr;
	} calls[] = {
		{ "bpf", SYS_bpf },
		{ "perf_event_open", SYS_perf_event_open },
		{ "ptrace", SYS_ptrace },
		{ "memfd_create", SYS_memfd_create },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(name, calls[i].name))
			return calls[i].nr;
	usage(USAGE);
}

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS_MAX + 2];
	struct sock_fprog filter = { .filter = code };
	unsigned short n = 0;
	int i = 1;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (i > CALLS_MAX)
			usage(USAGE);
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 call_number(argv[i]), 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	if (i + 1 >= argc)
		usage(USAGE);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter.len = n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)))
		die("seccomp");
	exec_checked(argv + i + 1);
}
