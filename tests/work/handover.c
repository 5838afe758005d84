// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handover ROUNDS MIB - two processes on two CPUs hand MIB to each other, never both resident
 *
 * Each in turn takes MIB in huge pages and gives them back before it tells the other, by spinning
 * on shared memory: no switch, so whoever stores what a process had at its last switch or tick
 * sees both at once.  Both are images of their own (exec).  Prints truth, the true maximum of
 * the whole tree, this parent included, and both, the sum that never was.
 */
#include "work.h"

enum { FULL, EMPTY };

struct shared {
	volatile int turn; /* 0, 1: whose; counted up by one each time, parity decides */
	volatile int failed;
	volatile uint64_t rss[2][2]; /* role, FULL or EMPTY: the largest seen */
};

static void note(struct shared *s, int role, int what)
{
	uint64_t now = rss_bytes(0);

	if (now > s->rss[role][what])
		s->rss[role][what] = now;
}

static _Noreturn void play(struct shared *s, int role, int rounds, size_t bytes)
{
	char *p = map_huge(bytes);

	pin(role);
	rss_bytes(0);
	for (int i = 0; i < rounds; i++) {
		bool look = i == 0 || i == rounds - 1;

		spin_until(&s->turn, 2 * i + role);
		touch(p, bytes);
		if (look)
			note(s, role, FULL);
		if (madvise(p, bytes, MADV_DONTNEED))
			die("madvise");
		if (look)
			note(s, role, EMPTY);
		spin_set(&s->turn, 2 * i + role + 1);
	}
	end_now(0);
}

static pid_t role_start(int fd, int role, char **args)
{
	char a[16], b[16];
	char *argv[] = { "handover", "role", a, b, args[1], args[2], NULL };
	pid_t pid;

	snprintf(a, sizeof(a), "%d", fd);
	snprintf(b, sizeof(b), "%d", role);
	pid = fork_checked();
	if (pid)
		return pid;
	execv("/proc/self/exe", argv);
	die("exec");
}

int main(int argc, char **argv)
{
	uint64_t a, b, parent;
	struct shared *s;
	pid_t pids[2];
	int fd, bad = 0;

	if (argc == 6 && !strcmp(argv[1], "role"))
		play(share_map((int)number(argv[2])), (int)number(argv[3]), (int)number(argv[4]),
		     number(argv[5]) * MIB);
	if (argc != 3)
		usage("ROUNDS MIB");
	fd = share_new();
	s = share_map(fd);
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < 2; i++)
		pids[i] = role_start(fd, i, argv);
	for (int i = 0; i < 2; i++)
		bad |= reap(pids[i]);
	rss_bytes(0);
	parent = rss_bytes(0);
	a = s->rss[0][FULL] + s->rss[1][EMPTY];
	b = s->rss[0][EMPTY] + s->rss[1][FULL];
	dprintf(1, "truth=%lu\n", parent + (a > b ? a : b));
	dprintf(1, "both=%lu\n", parent + s->rss[0][FULL] + s->rss[1][FULL]);
	end_now(bad ? 1 : 0);
}
