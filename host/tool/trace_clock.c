/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_clock.h"

#include "patchbay/abi/boot.h"

#define MICROSECONDS 1000000u
/** Counts of one round. */
#define ROUND ((uint64_t)1 << 32)

static uint32_t hertz_of(const struct pb_trace_clock *clock)
{
	return clock->hertz != 0 ? clock->hertz : MICROSECONDS;
}

/** Counts in microseconds, whose product would be too large for 64 bits. */
static uint64_t microseconds(const struct pb_trace_clock *clock, uint64_t counts)
{
	const uint32_t hertz = hertz_of(clock);

	return counts / hertz * MICROSECONDS + counts % hertz * MICROSECONDS / hertz;
}

static uint64_t time_of(const struct pb_trace_clock *clock)
{
	return clock->base + microseconds(clock, clock->counts);
}

uint64_t pb_trace_clock_step(struct pb_trace_clock *clock, uint32_t now)
{
	const uint32_t step = clock->running ? now - clock->last : 0;

	if (clock->hertz != 0 || step <= INT32_MAX)
		clock->counts += step;
	clock->running = true;
	clock->last = now;
	return time_of(clock);
}

uint64_t pb_trace_clock_at(struct pb_trace_clock *clock, uint32_t value)
{
	const int32_t step = (int32_t)(value - clock->last);
	uint64_t distance, time;

	if (!clock->running)
		return pb_trace_clock_step(clock, value);
	time = time_of(clock);
	distance = microseconds(clock, step < 0 ? (uint64_t)0 - (uint64_t)(int64_t)step : (uint64_t)step);
	if (step >= 0)
		return time + distance;
	return time > distance ? time - distance : 0;
}

/** A boot: the counter begins anew. */
static void restart(struct pb_trace_clock *clock, uint32_t now)
{
	if (clock->hertz == 0)
		return;
	clock->base = time_of(clock);
	clock->counts = 0;
	clock->last = now;
	clock->restarted = clock->running;
}

/** Moves the clock forward as far as it is behind the card's clock: after a boot by that, else by whole rounds. */
static void catch_up(struct pb_trace_clock *clock, uint32_t card)
{
	const uint64_t expected = clock->card_time + (uint32_t)(card - clock->card), time = time_of(clock);
	const uint64_t behind = expected > time ? expected - time : 0;
	const uint64_t round = microseconds(clock, ROUND);

	if (clock->restarted)
		clock->base += behind;
	else /* the two clocks differ a little */
		clock->counts += (behind + round / 2u) / round * ROUND;
}

/** CLOCK, behind the step to it. @return by how many microseconds the time moves forward */
static uint64_t compare(struct pb_trace_clock *clock, uint32_t card)
{
	const uint64_t time = time_of(clock);

	if (clock->card_known && clock->hertz != 0)
		catch_up(clock, card);
	clock->restarted = false;
	clock->card_known = true;
	clock->card = card;
	clock->card_time = time_of(clock);
	return clock->card_time - time;
}

bool pb_trace_clock_is_boot(uint32_t event, const struct pb_trace_record *record)
{
	return event == PB_TRACE_BOOT && record->arguments[0] == PB_BOOT_STAGE_NONE;
}

uint64_t pb_trace_clock_record(struct pb_trace_clock *clock, uint32_t event,
			       const struct pb_trace_record *record, uint64_t *late)
{
	uint64_t time;

	*late = 0;
	if (pb_trace_clock_is_boot(event, record))
		restart(clock, record->clock);
	time = pb_trace_clock_step(clock, record->clock);
	if (event == PB_TRACE_CLOCK)
		*late = compare(clock, record->arguments[0]);
	return time + *late;
}
