/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The only source of random numbers in a schedule: one seed gives one sequence, on every machine.
 */
#ifndef PB_TESTS_SIM_RANDOM_H
#define PB_TESTS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/** Every value is a valid start. */
struct pb_random {
	uint64_t state;
};

/** splitmix64 */
static inline uint64_t pb_random_next(struct pb_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/** A number from 0 to n - 1. Pre: n is not 0. */
static inline uint32_t pb_random_below(struct pb_random *random, uint32_t n)
{
	return (uint32_t)((pb_random_next(random) >> 32) * n >> 32);
}

/** True once in n times; never with n = 0. */
static inline bool pb_random_one_in(struct pb_random *random, uint32_t n)
{
	return n != 0 && pb_random_below(random, n) == 0;
}

#endif
