/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_clock.h"

#include <time.h>

#include "hal/shared.h"

uint64_t pb_card_wall_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void pb_card_clock_init(struct pb_card_clock *clock, struct pb_boot_block *block, uint64_t now)
{
	*clock = (struct pb_card_clock){.block = block, .then = now};
}

void pb_card_clock_start(struct pb_card_clock *clock, uint64_t now)
{
	clock->then = now;
	clock->beat = pb_shared_read32(&clock->block->heartbeat);
	clock->still = 0;
	pb_shared_write32(&clock->block->heartbeat_clock, clock->time);
}

bool pb_card_clock_doubts(const struct pb_card_clock *clock)
{
	return clock->still >= PB_CARD_CLOCK_DOUBT_US;
}

/* How far the clock may go while the heartbeat stands. */
static uint32_t limit(const struct pb_card_clock *clock, uint32_t step, bool proven)
{
	if (pb_card_clock_doubts(clock) && !proven)
		return 0;
	if (pb_card_clock_doubts(clock))
		return clock->still < PB_HEARTBEAT_US ? PB_CARD_CLOCK_PROOF_US : PB_CARD_CLOCK_LATE_PROOF_US;
	return step < PB_CARD_CLOCK_DOUBT_US - clock->still ? step : PB_CARD_CLOCK_DOUBT_US - clock->still;
}

void pb_card_clock_turn(struct pb_card_clock *clock, uint64_t now, bool proven)
{
	const uint64_t gone = now - clock->then;
	const uint32_t beat = pb_shared_read32(&clock->block->heartbeat);
	uint32_t step = gone < PB_CARD_CLOCK_TURN_US ? (uint32_t)gone : PB_CARD_CLOCK_TURN_US;

	clock->then = now;
	if (beat != clock->beat) {
		clock->beat = beat;
		clock->still = 0;
	} else {
		step = limit(clock, step, proven);
		clock->still += step;
	}
	if (step != 0)
		pb_shared_write32(&clock->block->clock, clock->time += step);
	if (clock->still == 0)
		pb_shared_write32(&clock->block->heartbeat_clock, clock->time);
}
