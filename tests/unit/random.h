/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random - numbers for property tests: the same in every run
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static uint64_t random_state = 20240607;

__attribute__((unused)) static inline uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* What the numbers from here on come from, to print with a failure. */
__attribute__((unused)) static inline uint64_t random_seed(void)
{
	return random_state;
}

__attribute__((unused)) static inline uint64_t random_below(uint64_t n)
{
	return random_next() % n;
}

/* From 0, below 1. */
__attribute__((unused)) static inline double random_fraction(void)
{
	return (double)(random_next() >> 11) / 9007199254740992.0;
}

#endif /* RANDOM_H */
