/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth - ten pieces of work whose cost is known by how they are made; tests/bench/peers asks what
 * each tool says of them
 *
 * usage: truth NAME
 *        truth            prints what each must come to: NAME, MiB that the tree has at once, CPU
 *                         seconds, processes; "-" where that is not the point
 *
 * Memory is anonymous and touched page by page; CPU is burned until the process's own clock says
 * so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1 << 20)

static const char *self;

static void fail(const char *what)
{
	fprintf(stderr, "truth: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void take(size_t mib)
{
	char *at =
		mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < mib * MIB; i += 4096)
		at[i] = 1;
}

static void burn(clockid_t clock, long ms)
{
	struct timespec start, now;

	clock_gettime(clock, &start);
	do
		clock_gettime(clock, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void pause_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* 0 in the child. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	return pid;
}

static void wait_all(void)
{
	while (wait(NULL) > 0)
		;
	if (errno != ECHILD)
		fail("wait");
}

static void again(const char *what)
{
	execl(self, self, what, NULL);
	fail(self);
}

static void brief(void)
{
	take(200);
}

static void chain(void)
{
	static const size_t mib[] = { 100, 200, 100 };

	for (int i = 0; i < 3; i++) {
		if (!child()) {
			take(mib[i]);
			_exit(0);
		}
		wait_all();
	}
}

/* All three hold theirs until the last has it. */
static void together(void)
{
	int ready[2], go[2];
	char byte;

	if (pipe(ready) || pipe(go))
		fail("pipe");
	for (int i = 0; i < 3; i++) {
		if (child())
			continue;
		close(go[1]);
		take(60);
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		if (read(ready[0], &byte, 1) != 1)
			fail("read");
	close(go[1]);
	wait_all();
}

static void copies(void)
{
	take(200);
	for (int i = 0; i < 4; i++)
		if (!child()) {
			pause_ms(300);
			_exit(0);
		}
	wait_all();
}

static void killed(void)
{
	if (!child()) {
		take(150);
		raise(SIGKILL);
	}
	wait_all();
}

static void daemonised(void)
{
	if (child())
		return;
	if (child())
		_exit(0);
	setsid();
	pause_ms(100);
	take(150);
	burn(CLOCK_PROCESS_CPUTIME_ID, 300);
	_exit(0);
}

static void images(void)
{
	take(150);
	again("nothing");
}

static void nothing(void)
{
}

static void *thread(void *unused)
{
	burn(CLOCK_THREAD_CPUTIME_ID, 100);
	return unused;
}

static void threads(void)
{
	pthread_t id[8];

	for (int i = 0; i < 8; i++)
		if (pthread_create(&id[i], NULL, thread, NULL))
			fail("pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(id[i], NULL);
}

static void storm(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!child())
			again("nothing");
		wait_all();
	}
}

static void crumbs(void)
{
	for (int i = 0; i < 200; i++) {
		if (!child()) {
			burn(CLOCK_PROCESS_CPUTIME_ID, 10);
			_exit(0);
		}
		wait_all();
	}
}

static const struct work {
	const char *name;
	void (*run)(void);
	const char *mib, *cpu_s, *processes;
} works[] = {
	{ "brief", brief, "200", "-", "1" },       { "chain", chain, "200", "-", "4" },
	{ "together", together, "180", "-", "4" }, { "copies", copies, "200", "-", "5" },
	{ "killed", killed, "150", "-", "2" },     { "daemonised", daemonised, "150", "-", "3" },
	{ "images", images, "150", "-", "1" },     { "threads", threads, "-", "0.8", "1" },
	{ "storm", storm, "-", "-", "1001" },      { "crumbs", crumbs, "-", "2", "201" },
	{ "nothing", nothing, NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (argc < 2 && works[i].mib)
			printf("%s %s %s %s\n", works[i].name, works[i].mib, works[i].cpu_s,
			       works[i].processes);
		if (argc == 2 && !strcmp(argv[1], works[i].name)) {
			works[i].run();
			return 0;
		}
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "usage: truth [NAME]\n");
	return 2;
}
