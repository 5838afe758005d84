// SPDX-License-Identifier: GPL-2.0-or-later
#include "probed/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <cap-ng.h>
#include <seccomp.h>

int confine_capabilities(void)
{
	const capng_type_t both = (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED);

	if (capng_get_caps_process())
		return -EIO;
	if (!capng_have_capability(CAPNG_PERMITTED, CAP_BPF) ||
	    !capng_have_capability(CAPNG_PERMITTED, CAP_PERFMON))
		return -EPERM;
	capng_clear(CAPNG_SELECT_ALL);
	capng_update(CAPNG_ADD, both, CAP_BPF);
	capng_update(CAPNG_ADD, both, CAP_PERFMON);
	/* The bounding set goes where that is allowed; with no_new_privs it means nothing. */
	if (capng_apply(CAPNG_SELECT_BOTH) && capng_apply(CAPNG_SELECT_CAPS))
		return -EIO;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}

#define NR(name) SCMP_SYS(name)

/* What loading and reading takes, libbpf's and the C library's own needs included. */
static const int session_calls[] = {
	NR(bpf),
	NR(perf_event_open),
	NR(ioctl),
	NR(membarrier),
	NR(read),
	NR(write),
	NR(writev),
	NR(pread64),
	NR(pwrite64),
	NR(close),
	NR(lseek),
	NR(fcntl),
	NR(dup),
	NR(dup2),
	NR(dup3),
	NR(ftruncate),
	NR(fstat),
	NR(stat),
	NR(lstat),
	NR(newfstatat),
	NR(statx),
	NR(statfs),
	NR(fstatfs),
	NR(access),
	NR(faccessat),
	NR(faccessat2),
	NR(readlink),
	NR(readlinkat),
	NR(getdents64),
	NR(memfd_create),
	NR(mmap),
	NR(munmap),
	NR(mprotect),
	NR(mremap),
	NR(madvise),
	NR(brk),
	NR(poll),
	NR(ppoll),
	NR(recvmsg),
	NR(recvfrom),
	NR(sendmsg),
	NR(sendto),
	NR(getsockopt),
	NR(epoll_create1),
	NR(epoll_ctl),
	NR(pidfd_open),
	NR(futex),
	NR(getrandom),
	NR(uname),
	NR(sysinfo),
	NR(prlimit64),
	NR(getrlimit),
	NR(getpid),
	NR(gettid),
	NR(getppid),
	NR(getuid),
	NR(geteuid),
	NR(getgid),
	NR(getegid),
	NR(clock_gettime),
	NR(clock_getres),
	NR(clock_nanosleep),
	NR(nanosleep),
	NR(gettimeofday),
	NR(time),
	NR(sched_yield),
	NR(rt_sigaction),
	NR(rt_sigprocmask),
	NR(rt_sigreturn),
	NR(sigaltstack),
	NR(restart_syscall),
	NR(sched_getscheduler),
	NR(sched_getaffinity),
	NR(set_robust_list),
	NR(rseq),
	NR(exit),
	NR(exit_group),
};

static const int server_calls[] = {
	NR(accept), NR(accept4), NR(clone),  NR(clone3),     NR(fork),    NR(wait4),
	NR(waitid), NR(prctl),   NR(tgkill), NR(setsockopt), NR(seccomp),
};

static int allow(scmp_filter_ctx f, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		/* This machine may not have it. */
		if (calls[i] >= 0 && seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0))
			return -EINVAL;
	return 0;
}

/* Files are read and nothing else. */
static int allow_reading(scmp_filter_ctx f)
{
	const scmp_datum_t writes = O_ACCMODE | O_CREAT | O_TRUNC;
	int err = seccomp_rule_add(f, SCMP_ACT_ALLOW, NR(openat), 1,
				   SCMP_A2(SCMP_CMP_MASKED_EQ, writes, O_RDONLY));

	if (!err && NR(open) >= 0)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, NR(open), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, writes, O_RDONLY));
	return err;
}

static int confine(int server)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err;

	if (!f)
		return -ENOMEM;
	err = allow(f, session_calls, sizeof(session_calls) / sizeof(session_calls[0]));
	if (!err && server)
		err = allow(f, server_calls, sizeof(server_calls) / sizeof(server_calls[0]));
	if (!err)
		err = allow_reading(f);
	if (!err)
		err = seccomp_load(f);
	seccomp_release(f);
	return err;
}

int confine_server(void)
{
	return confine(1);
}

int confine_session(void)
{
	return confine(0);
}
