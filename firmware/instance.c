/* SPDX-License-Identifier: MIT */
/* The one instance of an image: how it begins, and what its limits must be. */
#include "firmware/instance.h"

#include <string.h>

#include "firmware/assert.h"

PB_STATIC_ASSERT(sizeof(struct pb_core_queue) == PB_FIRMWARE_QUEUE_BYTES,
		 "what a board reserves for a queue");
PB_STATIC_ASSERT(PB_LIMIT_CHANNELS <= PB_CORE_FLOWS / PB_PRIORITIES && PB_CORE_QUEUE_PRIORITY_SHIFT == 2,
		 "the index of a priority and a channel");
PB_STATIC_ASSERT(PB_CORE_SUBMISSIONS <= PB_ENGINE_SLOTS, "the engine's ring holds what is in flight");
PB_STATIC_ASSERT(PB_CORE_SUBMISSIONS <= PB_CORE_QUEUE_PREPARED,
		 "a queue counts all that a recall may return");
PB_STATIC_ASSERT(PB_LIMIT_SEGMENTS <= PB_ENGINE_RANGES, "every segment has its range");
PB_STATIC_ASSERT(PB_LIMIT_SEGMENTS_TOTAL % 32u == 0 && PB_LIMIT_SEGMENTS_TOTAL < 256u,
		 "slots in whole words, each of them in a byte");
PB_STATIC_ASSERT(PB_LIMIT_STOPS >= PB_LIMIT_CHANNELS, "one is kept for each channel");
PB_STATIC_ASSERT(PB_LIMIT_CONTEXTS % PB_SLICE_CONTEXTS == 0, "a channel closes in whole slices");
PB_STATIC_ASSERT((PB_LIMIT_CONTEXTS & (PB_LIMIT_CONTEXTS - 1u)) == 0 && PB_LIMIT_CONTEXTS <= 16384u,
		 "indices of free contexts wrap around");
PB_STATIC_ASSERT(PB_LIMIT_CHANNELS <= 16u, "every channel has its line");

/* What firmware/limits.h asks of a board's own limits. */
#define POWER_OF_TWO(limit) PB_STATIC_ASSERT((limit) != 0 && ((limit) & ((limit)-1u)) == 0, #limit)
POWER_OF_TWO(PB_LIMIT_QUEUES);
POWER_OF_TWO(PB_LIMIT_ALLOCATIONS);
POWER_OF_TWO(PB_LIMIT_RING_MIN);
POWER_OF_TWO(PB_LIMIT_RING_MAX);
POWER_OF_TWO(PB_LIMIT_IN_FLIGHT + 1u);
POWER_OF_TWO(PB_LIMIT_CONTROL_ENTRIES);
POWER_OF_TWO(PB_LIMIT_KICK_ENTRIES);
POWER_OF_TWO(PB_LIMIT_EVENT_ENTRIES);
POWER_OF_TWO(PB_LIMIT_PATCHED);
PB_STATIC_ASSERT(PB_LIMIT_QUEUES % PB_SLICE_POLLS == 0, "queues are polled in whole slices");
PB_STATIC_ASSERT(PB_LIMIT_RING_MAX <= 256u, "a ring's mask is a byte");
PB_STATIC_ASSERT(PB_LIMIT_FORMATS_TOTAL < 256u, "a format's slot is a byte");
PB_STATIC_ASSERT(PB_LIMIT_PATCHED >= 2u, "a hash has a bit at least");
PB_STATIC_ASSERT(PB_DEFAULT_IN_FLIGHT <= PB_LIMIT_IN_FLIGHT, "a node may have what it begins with");

PB_STATIC_ASSERT(PB_LIMIT_NODES <= 4u, "a queue keeps its node in two bits");
PB_STATIC_ASSERT(PB_PRIORITIES <= 8u, "and its priority in three");

static struct pb_firmware the_firmware;

struct pb_firmware *pb_firmware_instance(void)
{
	return &the_firmware;
}

uint32_t pb_firmware_bytes(void)
{
	return sizeof(struct pb_firmware);
}

/** Sets the instance up so far that it can publish a boot block. */
static void begin(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	memset(firmware, 0, sizeof(*firmware));
	firmware->config = config;
	firmware->lines = config->lines;
	firmware->clock = config->clock;
	pb_core_boot_begin(&firmware->boot, pb_core_at(firmware, PB_BOOT_OFFSET));
	pb_core_crash_of(firmware);
}

void pb_firmware_refuse(struct pb_firmware *firmware, const struct pb_firmware_config *config,
			const struct pb_fatal_record *record)
{
	begin(firmware, config);
	pb_core_boot_publish(firmware);
	pb_firmware_fatal(&(struct pb_fault){.record = *record});
}

void pb_firmware_init(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	begin(firmware, config);
	firmware->lines_ops = config->lines->ops;
	firmware->lines_context = config->lines->context;
	PB_ASSERT(config->node_count >= 1u && config->node_count <= PB_LIMIT_NODES);
	pb_core_table_init(firmware);
	pb_core_wait_boot(firmware);
	pb_core_context_init(&firmware->contexts, firmware->context_words);
	pb_core_jobs_boot(&firmware->jobs);
	pb_core_boot_publish(firmware);
	for (uint32_t n = 0; n < config->node_count; n++) {
		pb_core_loop_add_line(&firmware->loop, PB_LINE_NODE(n));
		firmware->nodes[n].bit = 1u << n;
		firmware->node_at[n] = &firmware->nodes[n];
		pb_core_schedule_init(&firmware->nodes[n]);
		pb_core_node_init(&firmware->nodes[n], &config->engines[n], pb_core_clock(firmware));
	}
	pb_core_telemetry_init(firmware);
}
