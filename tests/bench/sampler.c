/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler - what a tool tells that looks at the tree every 100 ms, as psrecord does; for comparison
 *
 * usage: sampler RESULT COMMAND [ARG...]
 *
 * It is kinder than psrecord: compiled, and awake at once when the command ends.
 *
 * Sums resident memory and CPU of the command and its descendants, found by their parents in
 * /proc.  Writes "MIB CPU_SECONDS PROCESSES" to RESULT: the largest sum, the CPU last seen of each,
 * and how many were ever seen.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIDS      4194304 /* PID_MAX_LIMIT */
#define PERIOD_NS 100000000

struct seen {
	int pid, ppid;
	long pages, ticks;
};

static long cpu_ticks[PIDS + 1]; /* last seen, and one more; 0: never seen */
static int seen_pids[65536];     /* in the order in which they were seen */
static long n_seen;

static bool read_one(int pid, struct seen *ret)
{
	char path[64], line[1024], *at;
	long utime, stime;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	ret->pid = pid;
	if (!at || sscanf(at,
			  ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld %*d %*d %*d %*d "
			  "%*d %*d %*u %*u %ld",
			  &ret->ppid, &utime, &stime, &ret->pages) != 4)
		return false;
	ret->ticks = utime + stime;
	return true;
}

static bool belongs(const struct seen *all, size_t n, int pid, int root)
{
	for (int depth = 0; pid > 1 && depth < 1000; depth++) {
		size_t i = 0;

		if (pid == root)
			return true;
		while (i < n && all[i].pid != pid)
			i++;
		if (i == n)
			return false;
		pid = all[i].ppid;
	}
	return false;
}

/* Pages of all that are there. */
static long look(int root)
{
	static struct seen all[65536];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;
	long sum = 0;

	if (!proc)
		exit(1);
	while ((entry = readdir(proc)) && n < sizeof(all) / sizeof(all[0]))
		if (isdigit((unsigned char)entry->d_name[0]))
			n += read_one(atoi(entry->d_name), &all[n]);
	closedir(proc);
	for (size_t i = 0; i < n; i++)
		if (belongs(all, n, all[i].pid, root)) {
			sum += all[i].pages;
			if (!cpu_ticks[all[i].pid] && n_seen < 65536)
				seen_pids[n_seen++] = all[i].pid;
			cpu_ticks[all[i].pid] = all[i].ticks + 1;
		}
	return sum;
}

int main(int argc, char **argv)
{
	const struct timespec period = { .tv_nsec = PERIOD_NS };
	long most = 0, ticks = 0;
	sigset_t child_ends, before;
	int status;
	FILE *out;
	pid_t root;

	if (argc < 3) {
		fprintf(stderr, "usage: sampler RESULT COMMAND [ARG...]\n");
		return 2;
	}
	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ends, &before);
	root = fork();
	if (root < 0)
		return 1;
	if (!root) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (waitpid(root, &status, WNOHANG) == 0) {
		long pages = look(root);

		most = pages > most ? pages : most;
		sigtimedwait(&child_ends, NULL, &period);
	}
	for (long i = 0; i < n_seen; i++)
		ticks += cpu_ticks[seen_pids[i]] - 1;
	out = fopen(argv[1], "we");
	if (!out)
		return 1;
	fprintf(out, "%.1f %.3f %ld\n", (double)most * (double)sysconf(_SC_PAGESIZE) / (1 << 20),
		(double)ticks / (double)sysconf(_SC_CLK_TCK), n_seen);
	return fclose(out) || !WIFEXITED(status) || WEXITSTATUS(status);
}
