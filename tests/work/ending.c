// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ending - one process that takes MIB, prints what it has, and ends in a given way
 *
 *   ending WAY MIB
 *
 * WAY: return exit_group sys_exit abort sigkill sigsegv sigalrm seccomp_thread seccomp_process,
 * fell (half of it given back before), and with two threads more that hold MIB each:
 * thread_exit_group threads_sigkill last_thread nonleader_exec (becomes ending return 1).
 * The last thread prints rss and anon (smaps_rollup), vm (VmPeak) and, for fell, most.
 */
#include "work.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

#define USAGE "WAY MIB (see the head of ending.c)"

static pthread_barrier_t held;
static int leader_tid;
static const char *way;
static size_t bytes;
static char self[4096];
static char *block;
static char *again[] = { self, "return", "1", NULL };

static bool is(const char *name)
{
	return !strcmp(way, name);
}

/* Twice: the first reading touches what reading needs. */
static void truth_print(void)
{
	pid_t me = (pid_t)syscall(SYS_gettid); /* the leader may be gone */
	static char line[3][64];
	int n[3];

	mlockall(MCL_CURRENT); /* ending maps nothing more */
	for (int i = 0; i < 2; i++) {
		n[0] = snprintf(line[0], sizeof(line[0]), "rss=%lu\n", rss_bytes(me));
		n[1] = snprintf(line[1], sizeof(line[1]), "anon=%lu\n",
				proc_bytes(me, "smaps_rollup", "Anonymous:"));
		n[2] = snprintf(line[2], sizeof(line[2]), "vm=%lu\n",
				proc_bytes(me, "status", "VmPeak:"));
		for (int k = 0; k < 3; k++)
			if (write(i ? 1 : 2, line[k], i ? (size_t)n[k] : 0) < 0)
				die("write");
	}
}

/* The calling thread, or with @flags the process, dies by a system call of its own. */
static void seccomp_die(unsigned int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = 4, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		die("seccomp");
	truth_print();
	syscall(SYS_getppid);
}

/* Its last act is to clear its own number (set_tid_address) and to wake who waits for that. */
static void leader_wait(void)
{
	int tid;

	while ((tid = __atomic_load_n(&leader_tid, __ATOMIC_ACQUIRE)))
		syscall(SYS_futex, &leader_tid, FUTEX_WAIT, tid, NULL, NULL, 0);
}

static void *thread_run(void *last)
{
	hold_small(bytes);
	pthread_barrier_wait(&held);
	if (!last)
		for (;;)
			pause();
	if (is("last_thread")) {
		leader_wait();
		truth_print();
		syscall(SYS_exit, 4);
	}
	truth_print();
	if (is("thread_exit_group"))
		end_now(5);
	if (is("threads_sigkill"))
		kill(getpid(), SIGKILL);
	if (is("nonleader_exec")) {
		execv(self, again);
	}
	for (;;)
		pause();
}

static void threads_end(void)
{
	bool alone = is("last_thread");
	pthread_attr_t attr;
	pthread_t id;

	leader_tid = (int)syscall(SYS_set_tid_address, &leader_tid);
	pthread_barrier_init(&held, NULL, alone ? 2 : 3);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	if (!alone && pthread_create(&id, &attr, thread_run, NULL))
		die("pthread_create");
	if (pthread_create(&id, &attr, thread_run, &held))
		die("pthread_create");
	pthread_barrier_wait(&held);
	if (alone)
		syscall(SYS_exit, 0);
	for (;;)
		pause();
}

static bool ends_by_threads(void)
{
	return is("thread_exit_group") || is("threads_sigkill") || is("last_thread") ||
	       is("nonleader_exec");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		usage(USAGE);
	way = argv[1];
	bytes = number(argv[2]) * MIB;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("/proc/self/exe");
	if (ends_by_threads())
		threads_end();
	block = hold_small(bytes);
	if (is("fell")) {
		dprintf(1, "most=%lu\n", rss_bytes(0));
		munmap(block, bytes / 2);
	}
	if (is("seccomp_thread"))
		seccomp_die(SECCOMP_RET_KILL_THREAD);
	if (is("seccomp_process"))
		seccomp_die(SECCOMP_RET_KILL_PROCESS);
	if (is("sigalrm")) {
		truth_print();
		kill(getpid(), SIGALRM);
	}
	truth_print();
	if (is("return"))
		return 3;
	if (is("exit_group") || is("fell"))
		end_now(3);
	if (is("sys_exit"))
		syscall(SYS_exit, 3);
	if (is("abort"))
		kill(getpid(), SIGABRT);
	if (is("sigkill"))
		kill(getpid(), SIGKILL);
	if (is("sigsegv"))
		*(volatile char *)8 = 1;
	usage(USAGE);
}
