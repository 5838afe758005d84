// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scheduler - starts RUNS processes at once, once it is told to, and waits for them
 *
 *   scheduler RUNS TOLD GO [CONTROL]
 *
 * It writes its pid into the fifo TOLD and waits for a byte from the fifo GO.  With CONTROL, the
 * path of a control socket, each run makes three attempts named RUN.1 to RUN.3, in each of which
 * it takes memory and CPU of its own, and prints the truth as "RUN.N bytes cpu_us"; every fifth run
 * is killed in its last attempt, every fifth leaves a daemon behind, which ends after the
 * scheduler, every fifth makes attempts of 5 ms.  Without CONTROL a run ends at once.  JOB is the
 * run's number in its environment.
 */
#include "work.h"

#include <sys/socket.h>
#include <sys/un.h>

#define USAGE "RUNS TOLD GO [CONTROL]"

static const char *control_path;

static int control_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", control_path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	return fd;
}

static void tell(int fd, const char *what, int run, int attempt)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %d.%d\n", what, run, attempt);

	if (write(fd, line, (size_t)n) != n)
		die("write");
	if (read(fd, line, sizeof(line)) != 4 || memcmp(line, "ack\n", 4) != 0)
		die("no ack");
}

static unsigned long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (unsigned long)t.tv_sec * 1000000 + (unsigned long)t.tv_nsec / 1000;
}

/* One that lives until somebody writes into the fifo. */
static void daemonise(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			fifo_wait(getenv("GO"));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void attempt(int fd, int run, int n)
{
	bool is_short = run % 5 == 2, killed = run % 5 == 0 && n == 3;
	size_t bytes = (size_t)(4 + run % 3 * 8 + n * 6) * MIB;
	unsigned long before, end;
	char line[128], *p;
	int len;

	tell(fd, "attempt start", run, n);
	before = cpu_us();
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	end = before + (is_short ? 5000 : 20000 + (unsigned long)n * 10000);
	while (cpu_us() < end)
		;
	if (!is_short) /* nobody looks in so short a time: it is there at the end */
		munmap(p, bytes);
	/* One write, so that runs do not mix. */
	len = snprintf(line, sizeof(line), "%d.%d %zu %lu\n", run, n, bytes, cpu_us() - before);
	if (write(1, line, (size_t)len) != len)
		die("write");
	if (killed)
		kill(getpid(), SIGKILL);
	if (run % 5 == 1 && n == 2)
		daemonise();
	tell(fd, "attempt end", run, n);
	if (is_short)
		munmap(p, bytes);
}

static _Noreturn void run(int number)
{
	if (control_path) {
		int fd = control_open();

		for (int n = 1; n <= 3; n++)
			attempt(fd, number, n);
	}
	_exit(number % 7);
}

int main(int argc, char **argv)
{
	int runs = argc > 3 ? atoi(argv[1]) : 0, fd;
	char byte, text[32];

	if (argc == 3 && !strcmp(argv[1], "run")) {
		control_path = getenv("CONTROL");
		run(atoi(argv[2]));
	}
	if (argc < 4 || runs < 1)
		usage(USAGE);
	control_path = argc > 4 ? argv[4] : NULL;
	fd = open(argv[2], O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%d\n", getpid()) < 0)
		die(argv[2]);
	close(fd);
	fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		die(argv[3]);
	for (int i = 1; i <= runs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			setenv("GO", argv[3], 1);
			snprintf(text, sizeof(text), "%d", i);
			setenv("JOB", text, 1);
			if (control_path)
				setenv("CONTROL", control_path, 1);
			execl("/proc/self/exe", "run", "run", text, (char *)NULL);
			die("exec");
		}
		/* Without a channel many short ones, 20 at a time. */
		if (!control_path && i >= 20)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
