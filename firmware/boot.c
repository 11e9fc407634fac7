/* SPDX-License-Identifier: MIT */
#include "firmware/boot.h"

#include <string.h>

#include "firmware/compiler.h"
#include "firmware/instance.h"

static void write_build(struct pb_boot_block *boot, const char *board)
{
	char text[sizeof(boot->build)] = "patchbay " PB_VERSION " ";
	uint32_t words[sizeof(text) / sizeof(uint32_t)];
	size_t length = sizeof("patchbay " PB_VERSION " ") - 1u;

	for (; *board != '\0' && length < sizeof(text) - 1u; board++)
		text[length++] = *board;
	memcpy(words, text, sizeof(words));
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		pb_shared_write32((uint32_t *)(void *)boot->build + i, words[i]);
}

static uint32_t node_kinds(const struct pb_firmware_config *config)
{
	uint32_t kinds = 0;

	for (uint32_t n = 0; n < config->node_count; n++)
		kinds |= config->engines[n].kind << (4u * n);
	return kinds;
}

/* Their keys count from 1. */
#define COUNT_CAPABILITY(name, key, meaning) +1
#define CAPABILITIES                         (0u PB_CAPABILITIES(COUNT_CAPABILITY))

PB_STATIC_ASSERT((uint32_t)PB_CAPABILITY_OUTER_BYTES == CAPABILITIES, "keys without a hole");

/** Those that are the same in each boot; 0: the others, which write_capabilities() computes. By key. */
static const uint32_t fixed[CAPABILITIES + 1u] = {
	[PB_CAPABILITY_CLIENTS] = PB_LIMIT_CLIENTS,
	[PB_CAPABILITY_CONTEXTS] = PB_LIMIT_CONTEXTS,
	[PB_CAPABILITY_SEGMENTS] = PB_LIMIT_SEGMENTS,
	[PB_CAPABILITY_ALLOCATIONS_MAX] = PB_LIMIT_ALLOCATIONS,
	[PB_CAPABILITY_PATCHES_MAX] = PB_LIMIT_PATCHES,
	[PB_CAPABILITY_RING_ENTRIES_MIN] = PB_LIMIT_RING_MIN,
	[PB_CAPABILITY_RING_ENTRIES_MAX] = PB_LIMIT_RING_MAX,
	[PB_CAPABILITY_IN_FLIGHT] = PB_LIMIT_IN_FLIGHT,
	[PB_CAPABILITY_WAITS_MAX] = PB_WAITS_MAX,
	[PB_CAPABILITY_PRIORITIES] = PB_PRIORITIES,
	[PB_CAPABILITY_TICK_MICROSECONDS] = PB_TICK_MICROSECONDS,
	[PB_CAPABILITY_PATCH_ENCODINGS] = 1u << PB_PATCH_ENCODING_WDDM | 1u << PB_PATCH_ENCODING_COMPACT |
					  1u << PB_PATCH_ENCODING_GROUPED | PB_PATCH_PRESUMED,
	[PB_CAPABILITY_FORMATS] = PB_PATCH_FORMAT_COUNT,
	[PB_CAPABILITY_FORMATS_OWN] = PB_LIMIT_FORMATS_OWN,
	[PB_CAPABILITY_SEGMENTS_TOTAL] = PB_LIMIT_SEGMENTS_TOTAL,
	[PB_CAPABILITY_APERTURE_PAGES] = PB_LIMIT_APERTURE_PAGES,
	[PB_CAPABILITY_PREEMPTION] = 3,
	[PB_CAPABILITY_QUANTUM_MICROSECONDS] = PB_QUANTUM_MICROSECONDS,
	[PB_CAPABILITY_HANG_MICROSECONDS] = PB_HANG_MICROSECONDS,
	[PB_CAPABILITY_CONTEXTS_MIN] = PB_CORE_QUOTA_MINIMUM(PB_LIMIT_CONTEXTS),
	[PB_CAPABILITY_SEGMENTS_MIN] = PB_CORE_QUOTA_MINIMUM(PB_LIMIT_SEGMENTS_TOTAL),
	[PB_CAPABILITY_FORMATS_MIN] = PB_CORE_QUOTA_MINIMUM(PB_LIMIT_FORMATS_TOTAL),
	[PB_CAPABILITY_STOPS_MIN] = PB_CORE_QUOTA_MINIMUM(PB_LIMIT_STOPS),
	[PB_CAPABILITY_WAKES_MIN] = PB_QUOTA_WAKES_MIN,
};

static void write_capabilities(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	const struct pb_core_quotas *quotas = &firmware->quotas;
	const uint32_t outer_bytes = pb_core_outer_bytes(firmware);
	struct pb_capability *first = pb_core_at(firmware, PB_FIRMWARE_CAPABILITY_OFFSET);

	for (uint32_t key = 1; key <= CAPABILITIES; key++) {
		pb_shared_write32(&first[key - 1u].key, key);
		pb_shared_write32(&first[key - 1u].value, fixed[key]);
	}
#define WRITE(name, what) pb_shared_write32(&first[PB_CAPABILITY_##name - 1u].value, what)
	WRITE(NODES, config->node_count);
	WRITE(NODE_KINDS, node_kinds(config));
	WRITE(QUEUES, config->queue_count);
	WRITE(BUFFER_BYTES_MAX, quotas->room[PB_RESOURCE_POOL_BYTES] - outer_bytes);
	WRITE(POOL_OFFSET, config->pool_offset);
	WRITE(POOL_BYTES, quotas->total[PB_RESOURCE_POOL_BYTES] - outer_bytes);
	WRITE(QUEUES_MIN, quotas->minimum[PB_RESOURCE_QUEUES]);
	WRITE(SEGMENT_KINDS, 1u << PB_SEGMENT_LINEAR | 1u << PB_SEGMENT_APERTURE |
				     (uint32_t)(pb_core_host_window_bytes(firmware) != 0) << PB_SEGMENT_HOST |
				     (uint32_t)(outer_bytes != 0) << PB_SEGMENT_OUTER);
	WRITE(HOST_BYTES, pb_core_host_window_bytes(firmware));
	WRITE(POOL_BYTES_MIN, quotas->minimum[PB_RESOURCE_POOL_BYTES]);
	WRITE(WINDOW_BYTES, config->memory_bytes + config->trace_bytes);
	if (outer_bytes != 0)
		WRITE(OUTER_OFFSET, config->outer->offset);
	WRITE(OUTER_BYTES, outer_bytes);
#undef WRITE
}

static void write_stage(struct pb_firmware *firmware, enum pb_boot_stage stage)
{
	firmware->boot.stage = stage;
	PB_CORE_TRACE(firmware, BOOT, PB_TRACE_NONE, stage, firmware->boot.incarnation);
	pb_core_note(firmware, PB_CRASH_NOTE_STAGE, 0, stage);
	pb_shared_release();
	pb_shared_write32(&firmware->boot.block->boot_stage, stage);
}

void pb_core_boot_publish(struct pb_firmware *firmware)
{
	struct pb_boot_block *boot = firmware->boot.block;
	/* Left by the previous boot in shared memory: any value will do, as the new one only has to differ. */
	const uint32_t incarnation = pb_shared_read32(&boot->incarnation) + 1u;

	firmware->boot.incarnation = incarnation != 0 ? incarnation : 1u;
	pb_core_quota_boot(firmware);
	pb_core_host_boot(firmware);
	pb_core_trace_init(firmware);
	pb_shared_write32(&boot->magic, 0);
	pb_shared_write32(&boot->fatal.valid, 0);
	write_stage(firmware, PB_BOOT_STAGE_NONE);
	pb_core_trace_clock(firmware);
	/* Cleared after `valid`, so that a reader finds the record invalid before it changes. */
	for (uint32_t i = 1; i < sizeof(boot->fatal) / sizeof(uint32_t); i++)
		pb_shared_write32(&boot->fatal.valid + i, 0);
	pb_shared_write32(&boot->abi_version, PB_ABI_VERSION);
	pb_shared_write32(&boot->block_bytes, sizeof(*boot));
	pb_shared_write32(&boot->memory_bytes,
			  firmware->config->memory_bytes + firmware->config->trace_bytes);
	pb_shared_write32(&boot->capability_offset, PB_FIRMWARE_CAPABILITY_OFFSET);
	pb_shared_write32(&boot->capability_count, CAPABILITIES);
	write_capabilities(firmware);
	pb_shared_write32(&boot->channel_directory_offset, firmware->config->channels_offset);
	pb_shared_write32(&boot->channel_count, PB_LIMIT_CHANNELS);
	pb_shared_write32(&boot->crash_offset, firmware->config->crash_offset);
	pb_shared_write32(&boot->crash_bytes,
			  firmware->config->crash_offset != 0 ? sizeof(struct pb_crash_record) : 0);
	pb_shared_write32(&boot->telemetry_offset, firmware->config->telemetry_offset);
	write_build(boot, firmware->config->board);
	pb_shared_write32(&boot->heartbeat, 0);
	pb_shared_write32(&boot->waypoint, PB_WAYPOINT_NONE);
	pb_shared_release();
	/* A host that reads the new incarnation must not read the previous boot's stage. */
	pb_shared_write32(&boot->incarnation, firmware->boot.incarnation);
	pb_shared_write32(&boot->magic, PB_BOOT_MAGIC);
	write_stage(firmware, PB_BOOT_STAGE_STARTED);
}

/**
 * Polls the engines. @return whether each one has answered its reset or was given up: until then one may still run a
 * submission of the last incarnation
 */
static bool engines_are_settled(struct pb_firmware *firmware)
{
	bool settled = true;

	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		settled = pb_core_watchdog_boot(firmware, &firmware->nodes[n]) && settled;
	return settled;
}

PB_CORE_COLD bool pb_core_boot_step(struct pb_firmware *firmware)
{
	if (!engines_are_settled(firmware))
		return false;
	write_stage(firmware, PB_BOOT_STAGE_ENGINES_RESET);
	/* The clock runs on over a restart. Else the first submission has hung since clock 0, and is charged since then. */
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		pb_core_progress_restart(&firmware->nodes[n].progress, pb_core_clock(firmware));
		pb_core_charge_pause(&firmware->nodes[n].retirement);
	}
	/* What channels had in the last incarnation belongs to others in this one. */
	pb_core_segment_init(firmware);
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		pb_core_grants_reset(&firmware->channels[c].grants);
	pb_core_endpoint_init(firmware);
	write_stage(firmware, PB_BOOT_STAGE_RINGS_CLEARED);
	write_stage(firmware, PB_BOOT_STAGE_RUNNING);
	firmware->boot.booting = false;
	/* Hosts may have asked while it booted. */
	pb_core_mark_channels(&firmware->marks, (1u << PB_LIMIT_CHANNELS) - 1u);
	return true;
}

void pb_core_boot_begin(struct pb_core_boot *boot, struct pb_boot_block *block)
{
	boot->block = block;
	boot->booting = true;
}
