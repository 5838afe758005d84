// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters FOLDER ZONE=START+STEP%RANGE... - advances energy counters as a driver does
 *
 * Below FOLDER/class/powercap it makes ZONE/energy_uj and ZONE/max_energy_range_uj, and then adds
 * STEP to each several times a millisecond, up to RANGE and then from 0 on, until it is killed; as
 * root before all others, so that a busy machine does not stop it.  A reader sees each value whole:
 * it is written beside and renamed.  SIGUSR1 adds 1,000,000 to each at once.
 */
#include "work.h"

#define ZONES_MAX 8

struct zone {
	char path[256], beside[270];
	unsigned long long at, step, range;
};

static volatile sig_atomic_t leap;

static void on_leap(int signo)
{
	(void)signo;
	leap = 1;
}

static void put(const char *path, unsigned long long v)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu\n", v);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		die(path);
	close(fd);
}

static void show(const struct zone *z)
{
	put(z->beside, z->at);
	if (rename(z->beside, z->path))
		die(z->path);
}

static void begin(struct zone *z, const char *folder, const char *word)
{
	char name[64], range[300];

	if (sscanf(word, "%63[^=]=%llu+%llu%%%llu", name, &z->at, &z->step, &z->range) != 4)
		usage("FOLDER ZONE=START+STEP%RANGE...");
	snprintf(z->path, sizeof(z->path), "%.120s/class/powercap/%s/energy_uj", folder, name);
	snprintf(z->beside, sizeof(z->beside), "%.120s/class/powercap/%s/energy_uj.new", folder,
		 name);
	snprintf(range, sizeof(range), "%.120s/class/powercap/%s/max_energy_range_uj", folder,
		 name);
	put(range, z->range);
	show(z);
}

int main(int argc, char **argv)
{
	struct zone zones[ZONES_MAX];
	const struct timespec pause = { .tv_nsec = 300000 };
	int n = argc - 2;

	if (n < 1 || n > ZONES_MAX)
		usage("FOLDER ZONE=START+STEP%RANGE...");
	for (int i = 0; i < n; i++)
		begin(&zones[i], argv[1], argv[i + 2]);
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	signal(SIGUSR1, on_leap);
	for (;; nanosleep(&pause, NULL)) {
		unsigned long long more = leap ? 1000000 : 0;

		leap = 0;
		for (int i = 0; i < n; i++) {
			struct zone *z = &zones[i];

			z->at += z->step + more;
			if (z->at > z->range)
				z->at -= z->range;
			show(z);
		}
	}
}
