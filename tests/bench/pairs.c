/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs - what does a command put before another cost?  Paired runs, in ABBA order
 *
 * usage: pairs [-n PAIRS] [-s SECONDS] [-c CPU] load PROGRAM WORKLOAD N -- PREFIX...
 *        pairs [-n PAIRS] start -- PREFIX...
 *
 * load: PROGRAM WORKLOAD COUNT RESULT CPU alone (A) and behind PREFIX (B); COUNT starts at N and is
 * scaled until one run takes SECONDS.  start: /bin/true alone and behind PREFIX.
 *
 * Each round is one pair of A and B and one pair of A and A, which tells how much of a difference
 * the machine makes by itself; every other round turns both around.  Prints
 *
 *   load   cpu MEDIAN LOW HIGH aa MEDIAN LOW HIGH wall MEDIAN LOW HIGH count COUNT
 *   start  wall MEDIAN LOW HIGH aa MEDIAN LOW HIGH
 *
 * where load's are per cent of A and start's milliseconds more than A: the median of the pairs with
 * its 95 % interval by bootstrap.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAIRS 1000
#define MAX_WORDS 32
#define RESAMPLES 10000

extern char **environ;

struct cost {
	double wall_s, cpu_s;
};

struct estimate {
	double median, low, high;
};

struct bench {
	char *const *prefix;      /* NULL-terminated */
	char *program, *workload; /* NULL: /bin/true */
	long count;
	char cpu[16]; /* "" where the load may run anywhere */
	char result[4096];
};

static void fail(const char *what)
{
	fprintf(stderr, "pairs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Runs to the end; the seconds between start and wait. */
static double run(char *const argv[])
{
	double start = now_s();
	pid_t pid;
	int status;

	errno = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (errno)
		fail(argv[0]);
	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	if (status != 0) {
		fprintf(stderr, "pairs: %s ended with wait status %#x\n", argv[0], status);
		exit(1);
	}
	return now_s() - start;
}

static void read_result(const char *path, struct cost *ret_cost)
{
	long long wall_ns, cpu_ns;
	FILE *file = fopen(path, "re");

	if (!file || fscanf(file, "%lld %lld", &wall_ns, &cpu_ns) != 2) {
		fprintf(stderr, "pairs: the load wrote no result to %s\n", path);
		exit(1);
	}
	fclose(file);
	unlink(path);
	ret_cost->wall_s = (double)wall_ns * 1e-9;
	ret_cost->cpu_s = (double)cpu_ns * 1e-9;
}

static struct cost measure(struct bench *b, int behind_prefix)
{
	char *argv[MAX_WORDS + 8];
	char count[32];
	struct cost cost = { 0 };
	size_t n = 0;

	if (behind_prefix)
		while (b->prefix[n]) {
			argv[n] = b->prefix[n];
			n++;
		}
	if (!b->program) {
		argv[n++] = "/bin/true";
		argv[n] = NULL;
		cost.wall_s = run(argv);
		return cost;
	}
	snprintf(count, sizeof(count), "%ld", b->count);
	argv[n++] = b->program;
	argv[n++] = b->workload;
	argv[n++] = count;
	argv[n++] = b->result;
	if (b->cpu[0])
		argv[n++] = b->cpu;
	argv[n] = NULL;
	run(argv);
	read_result(b->result, &cost);
	return cost;
}

static void calibrate(struct bench *b, double seconds)
{
	for (int i = 0; i < 4; i++) {
		double wall_s = measure(b, 0).wall_s;
		double factor = seconds / (wall_s > 1e-6 ? wall_s : 1e-6);

		if (factor > 0.8 && factor < 1.25)
			break;
		b->count = (long)ceil((double)b->count * (factor < 100 ? factor : 100));
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @v. */
static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static uint64_t random_next(void)
{
	static uint64_t state =
		0x9e3779b97f4a7c15u; /* fixed: the same figures, the same interval */

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct estimate estimate(const double *v, int n)
{
	static double medians[RESAMPLES];
	double drawn[MAX_PAIRS] = { 0 };
	struct estimate e;

	for (int i = 0; i < RESAMPLES; i++) {
		for (int j = 0; j < n; j++)
			drawn[j] = v[random_next() % (uint64_t)n];
		medians[i] = median(drawn, n);
	}
	qsort(medians, RESAMPLES, sizeof(*medians), compare);
	e.low = medians[RESAMPLES * 25 / 1000];
	e.high = medians[RESAMPLES * 975 / 1000 - 1];
	memcpy(drawn, v, n * sizeof(*v));
	e.median = median(drawn, n);
	return e;
}

static void print_estimate(const char *name, const double *v, int n)
{
	struct estimate e = estimate(v, n);

	printf("%s %.4f %.4f %.4f ", name, e.median, e.low, e.high);
}

/* One pair, turned around or not; first is A, second what is held against it. */
static void pair(struct bench *b, int against_prefix, int turned, struct cost *ret_a,
		 struct cost *ret_b)
{
	if (turned)
		*ret_b = measure(b, against_prefix);
	*ret_a = measure(b, 0);
	if (!turned)
		*ret_b = measure(b, against_prefix);
}

static double percent(double a, double b)
{
	return (b / a - 1) * 100;
}

static double more_ms(const struct cost *a, const struct cost *b)
{
	return (b->wall_s - a->wall_s) * 1e3;
}

static void run_pairs(struct bench *b, int pairs)
{
	static double main_v[MAX_PAIRS], same_v[MAX_PAIRS], wall_v[MAX_PAIRS];
	struct cost a, other;

	/* Warm: page cache, branch predictors, exitmeter's cached BTF. */
	measure(b, 0);
	measure(b, 1);

	for (int i = 0; i < pairs; i++) {
		pair(b, 1, i % 2, &a, &other);
		main_v[i] = b->program ? percent(a.cpu_s, other.cpu_s) : more_ms(&a, &other);
		wall_v[i] = percent(a.wall_s, other.wall_s);
		pair(b, 0, i % 2, &a, &other);
		same_v[i] = b->program ? percent(a.cpu_s, other.cpu_s) : more_ms(&a, &other);
	}

	print_estimate(b->program ? "cpu" : "wall", main_v, pairs);
	print_estimate("aa", same_v, pairs);
	if (b->program) {
		print_estimate("wall", wall_v, pairs);
		printf("count %ld", b->count);
	}
	printf("\n");
}

static int usage(void)
{
	fprintf(stderr, "usage: pairs [-n PAIRS] [-s SECONDS] [-c CPU] load PROGRAM WORKLOAD N -- "
			"PREFIX...\n"
			"       pairs [-n PAIRS] start -- PREFIX...\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	double seconds = 0.35;
	int pairs = 40;
	int opt, words;

	while ((opt = getopt(argc, argv, "+n:s:c:")) != -1) {
		if (opt == 'n')
			pairs = atoi(optarg);
		else if (opt == 's')
			seconds = atof(optarg);
		else if (opt == 'c')
			snprintf(b.cpu, sizeof(b.cpu), "%s", optarg);
		else
			return usage();
	}
	argv += optind;
	argc -= optind;
	if (pairs < 2 || pairs > MAX_PAIRS || argc < 3)
		return usage();

	if (strcmp(argv[0], "load") == 0 && argc > 5 && strcmp(argv[4], "--") == 0) {
		b.program = argv[1];
		b.workload = argv[2];
		b.count = atol(argv[3]);
		words = 5;
	} else if (strcmp(argv[0], "start") == 0 && strcmp(argv[1], "--") == 0) {
		words = 2;
	} else {
		return usage();
	}
	if (argc - words > MAX_WORDS)
		return usage();
	b.prefix = argv + words;
	snprintf(b.result, sizeof(b.result), "%s/pairs.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());

	if (b.program)
		calibrate(&b, seconds);
	run_pairs(&b, pairs);
	return 0;
}
