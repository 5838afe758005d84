/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth - ten pieces of work whose cost is known by how they are made; tests/bench/peers asks what
 * each tool says of them
 *
 * usage: [TRUTH=FILE] truth NAME
 *        truth            prints what each must come to: NAME, MiB that the tree has at once, CPU
 *                         seconds at the least, processes; "-" where that is not the point
 *
 * Memory is anonymous and touched page by page; CPU is burned until the process's own clock says
 * so.  What it came to in this very run is added to the file TRUTH, a line each:
 *
 *   p PID        each process as it begins
 *   m KIB        at the fullest moment, when nobody moves: what all that live then have, by
 *                smaps_rollup, each page shared by fork once (Pss)
 *   c SECONDS    as one ends: rusage of itself and of the children it waited for
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1 << 20)

static const char *self;
static int report = -1;
static char *taken; /* the last */

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
	taken = at;
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

static void say_born(void)
{
	if (report >= 0)
		dprintf(report, "p %d\n", (int)getpid());
}

static long pss_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	if (!f)
		fail(path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %ld kB", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* Of itself and of @n others, who must live and keep still. */
static void say_memory(const pid_t *others, int n)
{
	long kib;

	if (report < 0)
		return;
	kib = pss_kib(getpid());
	for (int i = 0; i < n; i++)
		kib += pss_kib(others[i]);
	dprintf(report, "m %ld\n", kib);
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec * 1e-6;
}

static void say_cpu(void)
{
	struct rusage own, children;

	if (report < 0)
		return;
	if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
		fail("getrusage");
	dprintf(report, "c %.6f\n",
		seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(children.ru_utime) +
			seconds(children.ru_stime));
}

/* 0 in the child. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid)
		say_born();
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
	say_memory(NULL, 0);
}

static void chain(void)
{
	static const size_t mib[] = { 100, 200, 100 };

	for (int i = 0; i < 3; i++) {
		if (!child()) {
			take(mib[i]);
			say_memory(NULL, 0);
			_exit(0);
		}
		wait_all();
	}
}

/* All three hold theirs until the last has it. */
static void together(void)
{
	int ready[2], go[2];
	pid_t others[3];
	char byte;

	if (pipe(ready) || pipe(go))
		fail("pipe");
	for (int i = 0; i < 3; i++) {
		others[i] = child();
		if (others[i])
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
	say_memory(others, 3);
	close(go[1]);
	wait_all();
}

static void copies(void)
{
	pid_t others[4];

	take(200);
	for (int i = 0; i < 4; i++) {
		others[i] = child();
		if (!others[i]) {
			pause_ms(300);
			_exit(0);
		}
	}
	say_memory(others, 4);
	wait_all();
}

static void killed(void)
{
	if (!child()) {
		take(150);
		say_memory(NULL, 0);
		raise(SIGKILL);
	}
	wait_all();
}

/* What it took it gives back, so that the end costs nothing that it could not tell. */
static void daemonised(void)
{
	if (child())
		return;
	if (child()) {
		say_cpu();
		_exit(0);
	}
	setsid();
	pause_ms(100);
	take(150);
	say_memory(NULL, 0);
	burn(CLOCK_PROCESS_CPUTIME_ID, 300);
	if (munmap(taken, 150 * MIB))
		fail("munmap");
	say_cpu();
	_exit(0);
}

static void images(void)
{
	take(150);
	say_memory(NULL, 0);
	say_cpu();
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
	{ "killed", killed, "150", "-", "2" },     { "daemonised", daemonised, "150", "0.3", "3" },
	{ "images", images, "150", "-", "1" },     { "threads", threads, "-", "0.8", "1" },
	{ "storm", storm, "-", "0", "1001" },      { "crumbs", crumbs, "-", "2", "201" },
	{ "nothing", nothing, NULL, NULL, NULL },
};

/* An image of one that was there before says nothing. */
static void begin(const struct work *work)
{
	const char *file = getenv("TRUTH");

	if (!file || work->run == nothing)
		return;
	report = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (report < 0)
		fail(file);
	say_born();
}

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (argc < 2 && works[i].mib)
			printf("%s %s %s %s\n", works[i].name, works[i].mib, works[i].cpu_s,
			       works[i].processes);
		if (argc == 2 && !strcmp(argv[1], works[i].name)) {
			begin(&works[i]);
			works[i].run();
			say_cpu();
			return 0;
		}
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "usage: truth [NAME]\n");
	return 2;
}
