/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Quotas: what each channel has of the card's resources, and how much it may
 * have. Every claim costs the same, whatever the number of channels. The owner
 * of struct pb_core_quota and of struct pb_core_quotas; main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_QUOTA_H
#define PB_FIRMWARE_CHANNEL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** What each channel is guaranteed of a resource: its part of the share that is kept, and one at least if there are so many. */
#define PB_CORE_QUOTA_MINIMUM(total)                                                                         \
	((total) >= PB_QUOTA_SHARE * PB_LIMIT_CHANNELS ? (total) / (PB_QUOTA_SHARE * PB_LIMIT_CHANNELS)      \
						       : (uint32_t)((total) >= PB_LIMIT_CHANNELS))

/** Resources that are counted. Those behind them are times. */
#define PB_CORE_QUOTA_COUNTS ((uint32_t)PB_RESOURCE_HANG_MICROSECONDS)

/** What one of a channel's counts stands for: of the pool a page, else 1. */
#define PB_CORE_QUOTA_UNIT(resource) ((resource) == PB_RESOURCE_POOL_BYTES ? PB_PAGE_BYTES : 1u)

/** A member of a channel's record. Indexed by enum pb_resource; the pool in pages. */
struct pb_core_quota {
	uint16_t used[PB_RESOURCES_USED];     /**< what the channel has */
	uint16_t limit[PB_CORE_QUOTA_COUNTS]; /**< what it may have; at most the card's total */
	uint32_t limit_us[PB_RESOURCE_COUNT - PB_CORE_QUOTA_COUNTS]; /**< the times, in microseconds */
};

/** The state of this module. Indexed by enum pb_resource. */
struct pb_core_quotas {
	uint32_t total[PB_RESOURCE_COUNT];   /**< the card's; of what is not used up, the default limit */
	uint32_t minimum[PB_RESOURCE_COUNT]; /**< guaranteed to each channel; the least limit */
	uint32_t room[PB_RESOURCES_USED];    /**< free beside the unused minima of all channels */
	uint32_t refused;                    /**< the resource of the last NO_QUOTA */
};

/**
 * Sets totals, minima and every channel's limits. Once, at boot. Pre: the pool and outer memory are whole pages,
 * together fewer than 65,536.
 */
void pb_core_quota_boot(struct pb_firmware *firmware);
/** Sets a channel's limits to their defaults. What the channel has stays. */
void pb_core_quota_reset(struct pb_firmware *firmware, uint32_t channel);
/** Sets one limit of a channel. @return OK, or BAD_ARGUMENT: no such resource, or a limit below the guaranteed minimum */
enum pb_error pb_core_quota_set(struct pb_firmware *firmware, uint32_t channel, uint32_t resource,
				uint32_t asked);
/**
 * Claims some of a resource for a channel.
 * @param resource one that is used up @param amount of the pool: bytes, whole pages
 * @return OK; NO_QUOTA: the admin's limit; NO_SPACE: the card has so many only within other channels' guaranteed minima
 */
enum pb_error pb_core_quota_claim(struct pb_firmware *firmware, uint32_t channel, uint32_t resource,
				  uint32_t amount);
/**
 * Claims one of a resource for a channel if that is within the channel's limit and guaranteed minimum: then there is room.
 * @param resource one that is counted by ones @return whether it was claimed; if not, pb_core_quota_claim() may
 */
bool pb_core_quota_claim_guaranteed(struct pb_firmware *firmware, uint32_t channel, uint32_t resource);
/** Gives some of a resource back. Pre: the channel has claimed it. */
void pb_core_quota_release(struct pb_firmware *firmware, uint32_t channel, uint32_t resource,
			   uint32_t amount);
/** Gives back all that a channel has of a resource. */
void pb_core_quota_release_all(struct pb_firmware *firmware, uint32_t channel, uint32_t resource);

/** What a channel has of a resource. @param resource one that is used up */
static inline uint32_t pb_core_quota_used(const struct pb_core_quota *quota, uint32_t resource)
{
	return quota->used[resource] * PB_CORE_QUOTA_UNIT(resource);
}

/** What a channel may have of a resource. */
static inline uint32_t pb_core_quota_limit(const struct pb_core_quota *quota, uint32_t resource)
{
	if (resource >= PB_CORE_QUOTA_COUNTS)
		return quota->limit_us[resource - PB_CORE_QUOTA_COUNTS];
	return quota->limit[resource] * PB_CORE_QUOTA_UNIT(resource);
}

/** How many waiting queues may be checked for a channel in one slice; a pass has PB_PASS_WAITS slices. */
static inline uint32_t pb_core_quota_wakes(const struct pb_core_quota *quota)
{
	return quota->limit[PB_RESOURCE_WAKES];
}

/** Brings what a queue asks for within the limits of its channel. @param resource one that is not used up */
static inline uint32_t pb_core_quota_within(const struct pb_core_quotas *quotas,
					    const struct pb_core_quota *quota, uint32_t resource,
					    uint32_t asked)
{
	if (asked < quotas->minimum[resource])
		return quotas->minimum[resource];
	return asked < pb_core_quota_limit(quota, resource) ? asked : pb_core_quota_limit(quota, resource);
}

#endif
