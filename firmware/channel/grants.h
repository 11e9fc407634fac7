/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the admin has granted to a channel. The owner of struct pb_core_grants;
 * main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_GRANTS_H
#define PB_FIRMWARE_CHANNEL_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/channel.h"

/** A member of a channel's record. */
struct pb_core_grants {
	uint32_t privileges; /**< PB_PRIVILEGE_* */
	uint8_t weight; /**< its share of a node beside other channels of the same priority, 1..PB_WEIGHT_MAX */
	uint8_t priority_cap; /**< the highest enum pb_priority that its queues may have */
};

/** Resets a channel's grants to their defaults. */
static inline void pb_core_grants_reset(struct pb_core_grants *grants)
{
	grants->privileges = 0;
	grants->weight = 1;
	grants->priority_cap = PB_PRIORITY_NORMAL;
}

/** Grants. Pre: each value is in its range. */
static inline void pb_core_grants_set(struct pb_core_grants *grants, uint32_t privileges, uint32_t weight,
				      uint32_t priority_cap)
{
	grants->privileges = privileges;
	grants->weight = (uint8_t)weight;
	grants->priority_cap = (uint8_t)priority_cap;
}

/** Whether the channel has a privilege. */
static inline bool pb_core_grants_has(const struct pb_core_grants *grants, uint32_t privilege)
{
	return (grants->privileges & privilege) != 0;
}

#endif
