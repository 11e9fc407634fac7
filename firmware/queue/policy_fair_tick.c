/* SPDX-License-Identifier: MIT */
/* What the fair policy does at a tick: debts of channels that do not use the node become less. */
#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/queue/policy_fair.h"
#include "hal/bits.h"

/** Channels that use the node, or wait for it, at any priority. */
static PB_CORE_COLD uint32_t channels_of(struct pb_core_node *node)
{
	const struct pb_core_queue *current = node->slice.current;
	uint32_t channels = 0;

	if (current != NULL && pb_core_ring_has_more(current))
		channels |= 1u << current->channel;
	if (node->staged.kind != PB_CORE_STAGED_NONE)
		channels |= 1u << pb_core_in_flight_next(&node->flight)->queue->channel;
	for (uint32_t priority = 0; priority < PB_PRIORITIES; priority++)
		channels |= node->ready.at[priority].listed | node->flight.channels[priority];
	return channels;
}

/** A channel's debts are less by a part of the tick. @param part microseconds */
static void age(struct pb_core_fair *fair, uint32_t channel, int32_t part)
{
	for (struct pb_core_fair_level *level = fair->at; level != fair->at + PB_PRIORITIES; level++) {
		int32_t *deficit = &level->deficit[channel];

		if (*deficit < 0)
			*deficit = *deficit < -part ? *deficit + part : 0;
		if (*deficit >= 0)
			level->charged &= (uint16_t) ~(1u << channel);
	}
}

void pb_core_fair_tick(struct pb_firmware *firmware, struct pb_core_node *node)
{
	uint32_t idle = 0, weights = 0;

	for (uint32_t priority = 0; priority < PB_PRIORITIES; priority++)
		idle |= node->fair.at[priority].charged;
	if (idle != 0)
		idle &= ~channels_of(node);
	for (uint32_t channel = 0; idle != 0 && channel < PB_LIMIT_CHANNELS; channel++)
		weights += firmware->channels[channel].grants.weight;
	for (; idle != 0; idle &= idle - 1u) {
		const uint32_t channel = pb_bits_lowest(idle);
		const uint32_t weight = firmware->channels[channel].grants.weight;

		age(&node->fair, channel, (int32_t)(PB_TICK_MICROSECONDS * weight / weights));
	}
}
