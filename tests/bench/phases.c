// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * phases - how long a reading of N processes takes: phases on the control channel beside pings
 *
 *   exitmeter -- phases PROCESSES TIMES
 *
 * Prints the medians of both and the median of their difference in pairs, us, and its 5th and 95th
 * percentile.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int control_open(void)
{
	const char *name = getenv("EXITMETER_CONTROL");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t len;

	if (!name || strncmp(name, "unix:", 5) != 0) {
		fprintf(stderr, "phases: not under exitmeter\n");
		exit(1);
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", name + 5);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name + 5) + 1);
	if (name[5] == '@') {
		address.sun_path[0] = '\0';
		len--;
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, len))
		die("connect");
	return fd;
}

static double round_trip(int fd, const char *line)
{
	double start = now_us();
	char answer[16];

	if (write(fd, line, strlen(line)) < 0 || read(fd, answer, sizeof(answer)) != 4)
		die("no ack");
	return now_us() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int processes = argc == 3 ? atoi(argv[1]) : 0, times = argc == 3 ? atoi(argv[2]) : 0, fd;
	double *ping, *phase, *apart;
	pid_t *pids;

	if (processes < 1 || times < 1) {
		fprintf(stderr, "usage: phases PROCESSES TIMES\n");
		return 2;
	}
	ping = calloc((size_t)times, sizeof(*ping));
	phase = calloc((size_t)times, sizeof(*phase));
	apart = calloc((size_t)times, sizeof(*apart));
	pids = calloc((size_t)processes, sizeof(*pids));
	if (!ping || !phase || !apart || !pids)
		die("calloc");
	/* This one is of the tree too. */
	for (int i = 1; i < processes; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i]) {
			pause();
			_exit(0);
		}
	}
	fd = control_open();
	round_trip(fd, "phase first\n"); /* opens the files that are kept */
	for (int i = 0; i < times; i++) {
		ping[i] = round_trip(fd, "ping\n");
		phase[i] = round_trip(fd, "phase p\n");
		apart[i] = phase[i] - ping[i];
	}
	for (int i = 1; i < processes; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	qsort(ping, (size_t)times, sizeof(*ping), by_value);
	qsort(phase, (size_t)times, sizeof(*phase), by_value);
	qsort(apart, (size_t)times, sizeof(*apart), by_value);
	printf("%.0f %.0f %.0f %.0f %.0f\n", ping[times / 2], phase[times / 2], apart[times / 2],
	       apart[times / 20], apart[times - 1 - times / 20]);
	return 0;
}
