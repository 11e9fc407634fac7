/* SPDX-License-Identifier: MIT */
#include "tests/threads/card.h"

#include <stddef.h>

#include "firmware/limits.h"
#include "hal/shared.h"
#include "tests/threads/fibers.h"

#define CHANNELS 3u
/** The channel that the fibers share. */
#define SHARED_CHANNEL 1u
/** A schedule begins in the first microseconds after a tick. */
#define TICK_PHASE_US 100u

uint32_t pb_threads_read32(const uint32_t *address);
void pb_threads_write32(uint32_t *address, uint32_t value);

static struct pb_sim *sim;
static struct pb_link links[CHANNELS];
static uint32_t interrupts;           /**< of the shared channel, since the card was created */
static uint32_t seen[PB_FIBERS + 1u]; /**< of them, that a fiber's wait has seen */
static bool pending;                  /**< the interrupt routine must run */

uint32_t pb_threads_read32(const uint32_t *address)
{
	pb_fiber_point();
	return pb_shared_read32(address);
}

void pb_threads_write32(uint32_t *address, uint32_t value)
{
	pb_fiber_point();
	pb_shared_write32(address, value);
}

void pb_threads_card(void)
{
	if (sim == NULL)
		sim = pb_sim_create();
	if (sim == NULL)
		pb_fibers_fail("out of memory");
	while (pb_sim_now(sim) % PB_TICK_MICROSECONDS >= TICK_PHASE_US)
		pb_sim_step(sim);
	(void)pb_sim_interrupt_take(sim, SHARED_CHANNEL);
	interrupts = 0;
	pending = false;
	for (uint32_t i = 0; i <= PB_FIBERS; i++)
		seen[i] = 0;
}

void pb_threads_step(void)
{
	pb_sim_step(sim);
	if (pb_sim_interrupt_take(sim, SHARED_CHANNEL)) {
		interrupts++;
		pending = true;
	}
}

bool pb_threads_interrupt(void)
{
	const bool taken = pending;

	pending = false;
	return taken;
}

static void doorbell(struct pb_link *link)
{
	pb_sim_doorbell(sim, link->channel);
	pb_fiber_point();
}

static bool interrupted(const struct pb_link *link)
{
	uint32_t *mine = &seen[pb_fiber_self()];

	if (link->channel != SHARED_CHANNEL)
		return pb_sim_interrupt_take(sim, link->channel);
	if (*mine == interrupts)
		return false;
	*mine = interrupts;
	return true;
}

/** The main fiber lets the card run, the others let the main fiber run. */
static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	const uint64_t start = pb_sim_now(sim);

	while (!interrupted(link)) {
		if (pb_sim_now(sim) - start >= timeout_us)
			return PB_ERROR_TIMEOUT;
		pb_fiber_wait();
		if (pb_fiber_self() == PB_FIBER_MAIN)
			pb_threads_step();
	}
	return PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_sim_now(sim);
}

static void close_link(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops ops = {
	.doorbell = doorbell,
	.wait = wait_for_card,
	.now = now,
	.close = close_link,
};

struct pb_link *pb_threads_link(uint32_t channel, const struct pb_channel_locks *locks)
{
	links[channel] = (struct pb_link){
		.ops = &ops,
		.memory = pb_sim_memory(sim),
		.memory_bytes = pb_sim_memory_bytes(sim),
		.channel = channel,
		.locks = locks,
	};
	return &links[channel];
}
