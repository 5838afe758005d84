// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * burst MIB - one process holds MIB; another takes MIB in a burst on the other CPU and tells the
 * first to exit at once
 *
 * Both are spinning images of their own, so that nothing but the first one's end makes a meter
 * look.  Prints truth, the sum at the moment of that end, this parent included.
 */
#include "work.h"

enum { START, HELD, BURST, GONE };

struct shared {
	volatile int state;
	volatile uint64_t rss[2];
};

static _Noreturn void holder(struct shared *s, size_t bytes)
{
	pin(0);
	hold_small(bytes);
	rss_bytes(0);
	s->rss[0] = rss_bytes(0);
	spin_set(&s->state, HELD);
	spin_until(&s->state, BURST);
	end_now(0);
}

static _Noreturn void burster(struct shared *s, size_t bytes)
{
	char *p = map_huge(bytes);

	pin(1);
	rss_bytes(0);
	spin_until(&s->state, HELD);
	touch(p, bytes);
	spin_set(&s->state, BURST);
	spin_until(&s->state, GONE);
	s->rss[1] = rss_bytes(0);
	end_now(0);
}

static pid_t role_start(int fd, int role, char *mib)
{
	char a[16], b[16];
	char *argv[] = { "burst", "role", a, b, mib, NULL };
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
	struct shared *s;
	uint64_t parent;
	pid_t pids[2];
	int fd, bad;

	if (argc == 5 && !strcmp(argv[1], "role")) {
		s = share_map((int)number(argv[2]));
		if (number(argv[3]))
			burster(s, number(argv[4]) * MIB);
		holder(s, number(argv[4]) * MIB);
	}
	if (argc != 2)
		usage("MIB");
	fd = share_new();
	s = share_map(fd);
	s->state = START;
	rss_bytes(0);
	parent = rss_bytes(0);
	for (int i = 0; i < 2; i++)
		pids[i] = role_start(fd, i, argv[1]);
	bad = reap(pids[0]);
	spin_set(&s->state, GONE);
	bad |= reap(pids[1]);
	dprintf(1, "truth=%lu\n", parent + s->rss[0] + s->rss[1]);
	end_now(bad ? 1 : 0);
}
