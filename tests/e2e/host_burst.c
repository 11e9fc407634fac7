/* SPDX-License-Identifier: MIT */
/*
 * host_burst SOCKET ROUNDS: several submissions in a row to an idle node, in each round. Prints for each its fence id, and
 * the clock right before and right after the library was called, in microseconds.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/e2e_host.h"

#define BURST       6u
#define PATIENCE_US 20000000u

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/** Submits one FILL several times, and waits for the last one. */
static bool run_burst(struct e2e_host *host, uint32_t first)
{
	struct pb_dma *dma = &host->builders[0];
	struct pb_fence fence;

	e2e_host_fill(host, 0, first);
	for (uint32_t i = 0; i < BURST; i++) {
		const uint64_t before = clock_us();

		if (!e2e_ok("submit", pb_dma_submit(dma, first + i)))
			return false;
		printf("%u %" PRIu64 " %" PRIu64 "\n", (unsigned)(first + i), before, clock_us());
	}
	return e2e_ok("wait", pb_dma_wait(dma, PATIENCE_US, &fence));
}

int main(int argc, char **argv)
{
	const uint32_t rounds = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct e2e_host host;
	bool good;

	if (rounds == 0)
		return 2;
	good = e2e_host_open(&host, argv[1]);
	for (uint32_t i = 0; good && i < rounds; i++)
		good = run_burst(&host, 100u * (i + 1u));
	return good && e2e_host_close(&host) ? 0 : 1;
}
