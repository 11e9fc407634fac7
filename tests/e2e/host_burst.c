/* SPDX-License-Identifier: MIT */
/*
 * host_burst SOCKET ROUNDS [MCU]: several submissions in a row to an idle node, in each round. Prints for each its fence id,
 * and the clock right before and right after the library was called, in microseconds. With MCU, the process that emulates
 * the card's MCU, that one is stopped during each burst, and the fourth number is the clock when it was let go on.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define BURST 6u
/* Between two submissions, and how long the MCU stands behind them: more than the clocks of a trace are wrong by. */
#define APART_US 20u
#define HELD_US  50000u

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void pass(uint64_t until)
{
	while (clock_us() < until)
		continue;
}

/** Submits one FILL several times. @param times out: of each, the clock before and after */
static bool put_burst(struct pb_dma *dma, uint32_t first, uint64_t times[BURST][2])
{
	for (uint32_t i = 0; i < BURST; i++) {
		times[i][0] = clock_us();
		if (!e2e_ok("submit", pb_dma_submit(dma, first + i)))
			return false;
		times[i][1] = clock_us();
		pass(times[i][1] + APART_US);
	}
	return true;
}

/** Puts a burst and waits for its last submission. @param mcu is stopped meanwhile; 0: none */
static bool run_burst(struct e2e_host *host, uint32_t first, pid_t mcu)
{
	struct pb_dma *dma = &host->builders[0];
	uint64_t times[BURST][2], released;
	struct pb_fence fence;
	bool good;

	e2e_host_fill(host, 0, first);
	if (mcu != 0 && kill(mcu, SIGSTOP) == 0)
		e2e_await_state(mcu, 'T');
	good = put_burst(dma, first, times);
	if (mcu != 0)
		usleep(HELD_US);
	released = clock_us();
	if (mcu != 0)
		good = kill(mcu, SIGCONT) == 0 && good;
	for (uint32_t i = 0; i < BURST && good; i++)
		printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (unsigned)(first + i), times[i][0],
		       times[i][1], released);
	return good && e2e_ok("wait", pb_dma_wait(dma, E2E_PATIENCE_US, &fence));
}

int main(int argc, char **argv)
{
	const uint32_t rounds = argc >= 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	const pid_t mcu = argc == 4 ? (pid_t)strtol(argv[3], NULL, 10) : 0;
	struct e2e_host host;
	bool good;

	if (rounds == 0)
		return 2;
	good = e2e_host_open(&host, argv[1]);
	for (uint32_t i = 0; good && i < rounds; i++)
		good = run_burst(&host, 100u * (i + 1u), mcu);
	return good && e2e_host_close(&host) ? 0 : 1;
}
