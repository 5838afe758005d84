// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check_model [-j EVERY] [FIRST [COUNT]] - histories from FIRST on, told to the fold, against the
 * truth
 *
 * Of each EVERYth (7; 0 none) the journal is written and read back as well.  Speaks TAP.  What is
 * wrong is printed with the smallest beginning of its history that shows it.  Seeds that once did
 * are always among them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "play.h"

/* What each showed when it was found. */
static const uint64_t found[] = {
	5,     46, /* two that share memory and still run: each had its part in the peak */
	195,       /* parts of another peak than the lower bound */
	47,    11,
	117,          /* proc: memory that is shared counted twice */
	25077,        /* proc: a mark of a time before, of one that shared it */
	218,          /* ptrace: taken in while it shared, it had the other's mark */
	14523, 11725, /* ptrace: nobody told of memory whose owner had left it by an exec */
	613,   2541,
	11018, /* of lost records a lifetime's mark, or an approximate one, for sure */
	2726,  2806,
	3244, /* bpf: an approximate mark of one that still runs, for sure */
};

#define SHOWN_MOST 5

static struct history history;
static struct play played;

static int one(size_t steps, int fd, FILE *to)
{
	int wrong, err;

	if (fd >= 0 && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		abort();
	err = play(&played, &history, steps, fd);
	if (err) {
		fprintf(to, "# wrong: the fold failed: %d\n", err);
		wrong = 1;
	} else {
		wrong = check(&played, to);
		if (fd >= 0)
			wrong += check_journal(&played, fd, to);
	}
	play_free(&played);
	return wrong;
}

/* Every beginning is a history. */
static void show_smallest(int fd)
{
	FILE *nowhere = fopen("/dev/null", "w");
	size_t steps = history.n;

	if (!nowhere)
		abort();
	for (size_t n = 0; n < history.n; n++)
		if (one(n, fd, nowhere)) {
			steps = n;
			break;
		}
	fclose(nowhere);
	history_print(&history, steps, stdout);
	one(steps, fd, stdout);
}

static bool holds(uint64_t seed, int fd, int *shown)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	history_make(&history, seed);
	if (!one(history.n, fd, nowhere))
		return true;
	if (++*shown <= SHOWN_MOST)
		show_smallest(fd);
	return false;
}

int main(int argc, char **argv)
{
	uint64_t first = 1, count = 10000, every = 7, wrong = 0;
	int fd = memfd_create("journal", MFD_CLOEXEC), shown = 0, opt;
	size_t n_found = sizeof(found) / sizeof(found[0]);

	while ((opt = getopt(argc, argv, "j:")) != -1) {
		if (opt != 'j')
			return 2;
		every = strtoull(optarg, NULL, 10);
	}
	if (optind < argc)
		first = strtoull(argv[optind], NULL, 10);
	if (optind + 1 < argc)
		count = strtoull(argv[optind + 1], NULL, 10);
	if (fd < 0)
		return 2;
	for (size_t i = 0; i < n_found; i++)
		wrong += !holds(found[i], fd, &shown);
	printf("%sok 1 - seeds that once were wrong: %zu\n", wrong ? "not " : "", n_found);
	for (uint64_t seed = first; seed < first + count; seed++)
		wrong += !holds(seed, every && seed % every == 0 ? fd : -1, &shown);
	printf("%sok 2 - histories from %llu on: %llu, wrong: %llu\n1..2\n", wrong ? "not " : "",
	       (unsigned long long)first, (unsigned long long)count, (unsigned long long)wrong);
	return wrong > 0;
}
