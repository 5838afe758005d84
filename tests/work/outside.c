// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * outside - memory of a sleeping process that another one changes
 *
 *   outside truncate FILE MIB MS   a sleeper has MIB of FILE mapped and resident; a grower
 *                                  truncates FILE, then takes MIB of its own
 *   outside write MIB MS           a grower takes MIB and writes MIB into the untouched memory of
 *                                  a sleeper by process_vm_writev
 *
 * The sleeper sleeps for MS before the grower starts, and the end state stays for MS before the
 * grower, then the sleeper ends.  Prints truth, the largest true sum, this parent included, and
 * apart, the sum of what each had at its largest.
 */
#include "work.h"
#include <sys/prctl.h>
#include <sys/uio.h>

#define USAGE "truncate FILE MIB MS | write MIB MS"

struct role {
	pid_t pid;
	int ready, go; /* the parent's ends */
};

struct shared {
	volatile uintptr_t at; /* the sleeper's area */
	volatile pid_t pid;
};

static void file_resident(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	volatile char *p;

	if (fd < 0)
		die(path);
	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < bytes; i += 4096)
		(void)p[i];
}

static void write_into(const struct shared *s, char *from, size_t bytes)
{
	struct iovec local = { .iov_base = from, .iov_len = bytes };
	struct iovec remote = { .iov_base = (void *)s->at, .iov_len = bytes };

	if (process_vm_writev(s->pid, &local, 1, &remote, 1, 0) != (ssize_t)bytes)
		die("process_vm_writev");
}

/* role NAME READY GO SHARED BYTES-IN-MIB [FILE] */
static _Noreturn void role_run(int argc, char **argv)
{
	int ready = (int)number(argv[3]), go = (int)number(argv[4]);
	struct shared *s = share_map((int)number(argv[5]));
	size_t bytes = number(argv[6]) * MIB;
	const char *file = argc > 7 ? argv[7] : NULL;

	if (!strcmp(argv[2], "sleeper")) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		if (file)
			file_resident(file, bytes);
		s->at = (uintptr_t)map_small(bytes);
		s->pid = getpid();
	} else if (file) {
		if (truncate(file, 0))
			die(file);
		hold_small(bytes);
	} else {
		write_into(s, hold_small(bytes), bytes);
	}
	byte_send(ready);
	byte_wait(go);
	end_now(0);
}

static struct role role_start(const char *name, int shared, char *mib, char *file)
{
	int ready[2], go[2];
	char a[16], b[16], c[16];
	char *argv[] = { "outside", "role", (char *)name, a, b, c, mib, file, NULL };
	struct role r;

	pipe_checked(ready);
	pipe_checked(go);
	snprintf(a, sizeof(a), "%d", ready[1]);
	snprintf(b, sizeof(b), "%d", go[0]);
	snprintf(c, sizeof(c), "%d", shared);
	r.pid = fork_checked();
	if (!r.pid) {
		execv("/proc/self/exe", argv);
		die("exec");
	}
	close(ready[1]);
	close(go[0]);
	r.ready = ready[0];
	r.go = go[1];
	if (!byte_wait(r.ready))
		end_now(1);
	return r;
}

static void file_make(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		die(path);
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t before, after, sleeper_first, sleeper_last, grower_last;
	struct role sleeper, grower;
	char *file = NULL, **rest;
	int fd, bad;

	if (argc > 6 && !strcmp(argv[1], "role"))
		role_run(argc, argv);
	if (argc == 5 && !strcmp(argv[1], "truncate"))
		file = argv[2];
	else if (argc != 4 || strcmp(argv[1], "write"))
		usage(USAGE);
	rest = argv + argc - 2;
	if (file)
		file_make(file, number(rest[0]) * MIB);
	fd = share_new();
	rss_bytes(0);

	sleeper = role_start("sleeper", fd, rest[0], file);
	sleeper_first = rss_bytes(sleeper.pid);
	before = sleeper_first + rss_bytes(0);
	idle_ms(number(rest[1])); /* a sample must have found it asleep */
	grower = role_start("grower", fd, rest[0], file);
	sleeper_last = rss_bytes(sleeper.pid);
	grower_last = rss_bytes(grower.pid);
	after = sleeper_last + grower_last + rss_bytes(0);
	idle_ms(number(rest[1]));
	byte_send(grower.go);
	bad = reap(grower.pid);
	byte_send(sleeper.go);
	bad |= reap(sleeper.pid);
	dprintf(1, "truth=%lu\n", before > after ? before : after);
	dprintf(1, "apart=%lu\n",
		(sleeper_first > sleeper_last ? sleeper_first : sleeper_last) + grower_last +
			rss_bytes(0));
	end_now(bad ? 1 : 0);
}
