/* SPDX-License-Identifier: MIT */
#include "firmware/channel/quota.h"

#include <string.h>

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

PB_STATIC_ASSERT((uint32_t)PB_RESOURCE_WAKES == PB_RESOURCES_USED, "those that are used up come first");

void pb_core_quota_boot(struct pb_firmware *firmware)
{
	static const uint32_t totals[PB_RESOURCE_COUNT] = {
		[PB_RESOURCE_CONTEXTS] = PB_LIMIT_CONTEXTS,
		[PB_RESOURCE_SEGMENTS] = PB_LIMIT_SEGMENTS_TOTAL,
		[PB_RESOURCE_FORMATS] = PB_LIMIT_FORMATS_TOTAL,
		[PB_RESOURCE_STOPS] = PB_LIMIT_STOPS,
		[PB_RESOURCE_WAKES] = PB_SLICE_WAITERS,
		[PB_RESOURCE_HANG_MICROSECONDS] = PB_HANG_MICROSECONDS,
		[PB_RESOURCE_STOP_MICROSECONDS] = PB_STOP_MICROSECONDS,
	};
	const struct pb_firmware_config *config = firmware->config;
	struct pb_core_quotas *quotas = &firmware->quotas;
	const uint32_t pool = config->memory_bytes - config->pool_offset;
	const uint32_t both = pool + pb_core_outer_bytes(firmware);

	PB_ASSERT(config->queue_count <= UINT16_MAX && both % PB_PAGE_BYTES == 0 &&
		  both / PB_PAGE_BYTES <= UINT16_MAX);
	memcpy(quotas->total, totals, sizeof(totals));
	quotas->total[PB_RESOURCE_QUEUES] = config->queue_count;
	quotas->total[PB_RESOURCE_POOL_BYTES] = both;
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++)
		quotas->minimum[r] = PB_CORE_QUOTA_MINIMUM(quotas->total[r]);
	quotas->minimum[PB_RESOURCE_POOL_BYTES] =
		pool / (PB_QUOTA_SHARE_POOL * PB_LIMIT_CHANNELS) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	quotas->minimum[PB_RESOURCE_WAKES] = PB_QUOTA_WAKES_MIN;
	quotas->minimum[PB_RESOURCE_HANG_MICROSECONDS] = PB_QUOTA_MICROSECONDS_MIN;
	quotas->minimum[PB_RESOURCE_STOP_MICROSECONDS] = PB_QUOTA_MICROSECONDS_MIN;
	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		quotas->room[r] = quotas->total[r] - PB_LIMIT_CHANNELS * quotas->minimum[r];
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		pb_core_quota_reset(firmware, channel);
}

/** Sets a limit. Of the pool whole pages count. */
static void set_limit(struct pb_core_quota *quota, uint32_t resource, uint32_t most)
{
	if (resource >= PB_CORE_QUOTA_COUNTS)
		quota->limit_us[resource - PB_CORE_QUOTA_COUNTS] = most;
	else
		quota->limit[resource] = (uint16_t)(most / PB_CORE_QUOTA_UNIT(resource));
}

PB_CORE_COLD void pb_core_quota_reset(struct pb_firmware *firmware, uint32_t channel)
{
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++)
		set_limit(&firmware->channels[channel].quota, r, firmware->quotas.total[r]);
}

enum pb_error pb_core_quota_set(struct pb_firmware *firmware, uint32_t channel, uint32_t resource,
				uint32_t asked)
{
	const struct pb_core_quotas *quotas = &firmware->quotas;
	uint32_t most;

	if (resource >= PB_RESOURCE_COUNT || asked < quotas->minimum[resource])
		return PB_ERROR_BAD_ARGUMENT;
	most = resource <= PB_RESOURCE_WAKES ? quotas->total[resource] : PB_QUOTA_MICROSECONDS_MAX;
	set_limit(&firmware->channels[channel].quota, resource, asked < most ? asked : most);
	return PB_ERROR_OK;
}

/** What of `used` is beyond a channel's guaranteed minimum. */
static uint32_t beyond(const struct pb_core_quotas *quotas, uint32_t resource, uint32_t used)
{
	const uint32_t minimum = quotas->minimum[resource];

	return used > minimum ? used - minimum : 0;
}

enum pb_error pb_core_quota_claim(struct pb_firmware *firmware, uint32_t channel, uint32_t resource,
				  uint32_t amount)
{
	struct pb_core_quotas *quotas = &firmware->quotas;
	struct pb_core_quota *quota = &firmware->channels[channel].quota;
	const uint32_t used = pb_core_quota_used(quota, resource);
	const uint32_t limit = pb_core_quota_limit(quota, resource);
	uint32_t more;

	if (used > limit || amount > limit - used) {
		quotas->refused = resource;
		return limit < quotas->total[resource] ? PB_ERROR_NO_QUOTA : PB_ERROR_NO_SPACE;
	}
	more = beyond(quotas, resource, used + amount) - beyond(quotas, resource, used);
	if (more > quotas->room[resource])
		return PB_ERROR_NO_SPACE;
	quotas->room[resource] -= more;
	quota->used[resource] += (uint16_t)(amount / PB_CORE_QUOTA_UNIT(resource));
	return PB_ERROR_OK;
}

bool pb_core_quota_claim_guaranteed(struct pb_firmware *firmware, uint32_t channel, uint32_t resource)
{
	struct pb_core_quota *quota = &firmware->channels[channel].quota;
	const uint32_t used = quota->used[resource];

	if (used >= quota->limit[resource] || used >= firmware->quotas.minimum[resource])
		return false;
	quota->used[resource] = (uint16_t)(used + 1u);
	return true;
}

void pb_core_quota_release(struct pb_firmware *firmware, uint32_t channel, uint32_t resource, uint32_t amount)
{
	struct pb_core_quotas *quotas = &firmware->quotas;
	struct pb_core_quota *quota = &firmware->channels[channel].quota;
	const uint32_t used = pb_core_quota_used(quota, resource);

	PB_ASSERT(amount <= used);
	quotas->room[resource] += beyond(quotas, resource, used) - beyond(quotas, resource, used - amount);
	quota->used[resource] -= (uint16_t)(amount / PB_CORE_QUOTA_UNIT(resource));
}

void pb_core_quota_release_all(struct pb_firmware *firmware, uint32_t channel, uint32_t resource)
{
	pb_core_quota_release(firmware, channel, resource,
			      pb_core_quota_used(&firmware->channels[channel].quota, resource));
}
