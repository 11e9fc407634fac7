/* SPDX-License-Identifier: MIT */
#include "boards/mcu_card.h"

#include <string.h>

#include "hal/engine/reference.h"
#include "hal/engine_model/soft.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"

#define NODES  2u
#define QUEUES PB_LIMIT_QUEUES

/*
 * Card memory, in bytes from its start (linker symbols of memory.ld):
 *
 *   0x0000  boot block, capability table    include/patchbay/abi/boot.h
 *   0x0400  register blocks of the engines  hal/engine/registers.h
 *   0x0600  counters of their page tables
 *   0x0680  rings of the engines, each with the progress of what they go on with
 *   0x1280  range table of the engines
 *   0x1880  channel directory, then the channels' rings
 *   0x3000  crash record                    include/patchbay/abi/crash.h
 *   0x3800  telemetry                       include/patchbay/abi/telemetry.h
 *   0x4000  pool, to the end
 */
#define MEMORY_BYTES       PB_MCU_CARD_MEMORY_BYTES
#define REGISTERS_OFFSET   0x400u
#define REGISTERS_STRIDE   sizeof(struct pb_engine_registers)
#define TRANSLATION_OFFSET 0x600u
#define RINGS_OFFSET       0x680u
#define RING_STRIDE        (PB_ENGINE_SLOTS * (sizeof(struct pb_engine_slot) + sizeof(struct pb_engine_progress)))
#define RANGES_OFFSET      0x1280u
#define CHANNELS_OFFSET    0x1880u
#define CRASH_OFFSET       0x3000u
#define TELEMETRY_OFFSET   0x3800u
#define POOL_OFFSET        0x4000u
/** There is no dummy page: a store to a page that is not mapped goes nowhere, as docs/engine.md has it. */
#define NO_DUMMY_OFFSET UINT32_MAX

#define COUNT_CAPABILITY(name, key, meaning) +1
PB_STATIC_ASSERT(PB_FIRMWARE_CAPABILITY_OFFSET +
				 (0u PB_CAPABILITIES(COUNT_CAPABILITY)) * sizeof(struct pb_capability) <=
			 REGISTERS_OFFSET,
		 "capability table");
PB_STATIC_ASSERT(REGISTERS_OFFSET + NODES * REGISTERS_STRIDE == TRANSLATION_OFFSET, "register blocks");
PB_STATIC_ASSERT(TRANSLATION_OFFSET + sizeof(struct pb_engine_translation) == RINGS_OFFSET, "counters");
PB_STATIC_ASSERT(RINGS_OFFSET + NODES * RING_STRIDE == RANGES_OFFSET, "rings");
PB_STATIC_ASSERT(RANGES_OFFSET + PB_LIMIT_CHANNELS * PB_ENGINE_RANGES *
					 sizeof(struct pb_engine_range_entry) ==
			 CHANNELS_OFFSET,
		 "range table");

#define SOFT_ENGINE(n, kind_)                                                                                \
	{                                                                                                    \
		.memory = pb_card_memory, .memory_bytes = MEMORY_BYTES,                                      \
		.registers_offset = REGISTERS_OFFSET + (n)*REGISTERS_STRIDE, .kind = (kind_),                \
	}

static const struct pb_engine_model_config soft_configs[NODES] = {SOFT_ENGINE(0, PB_NODE_3D),
								  SOFT_ENGINE(1, PB_NODE_COPY)};
static struct pb_soft_engine soft[NODES];
static struct pb_soft_engines soft_engines = {.configs = soft_configs, .nodes = soft, .count = NODES};

struct pb_local_lines pb_mcu_card_lines = {
	.engines = &soft_engines,
	.boot = (struct pb_boot_block *)(void *)pb_card_memory,
};

static const struct pb_lines lines = {
	.ops = &pb_local_lines_ops, .context = &pb_mcu_card_lines, .pending = &pb_mcu_card_lines.pending};

static struct pb_reference_memory tables = {
	.card_memory = pb_card_memory,
	.range_offset = RANGES_OFFSET,
	.channels = PB_LIMIT_CHANNELS,
	.dummy_offset = NO_DUMMY_OFFSET,
	.translation_offset = TRANSLATION_OFFSET,
};
static const struct pb_engine_memory engine_memory = {&pb_reference_memory_ops, &tables};

#define REFERENCE_ENGINE(n)                                                                                  \
	{                                                                                                    \
		.memory = &tables, .registers_offset = REGISTERS_OFFSET + (n)*REGISTERS_STRIDE,              \
		.ring_offset = RINGS_OFFSET + (n)*RING_STRIDE, .node = (n), .lines = &lines,                 \
	}

static struct pb_reference_engine reference[NODES] = {REFERENCE_ENGINE(0), REFERENCE_ENGINE(1)};

static const struct pb_engine engines[NODES] = {
	PB_REFERENCE_ENGINE(&reference[0], PB_NODE_3D),
	PB_REFERENCE_ENGINE(&reference[1], PB_NODE_COPY),
};

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

static const struct pb_firmware_config config = {
	.memory = pb_card_memory,
	.memory_bytes = MEMORY_BYTES,
	.channels_offset = CHANNELS_OFFSET,
	.pool_offset = POOL_OFFSET,
	.lines = &lines,
	.engine_memory = &engine_memory,
	.engines = engines,
	.node_count = NODES,
	.clock = &pb_mcu_card_lines.clock,
	.queues = queues,
	.queue_count = QUEUES,
	.board = pb_mcu_card_name,
	.crash_offset = CRASH_OFFSET,
	.telemetry_offset = TELEMETRY_OFFSET,
};

/** SRAM holds anything after power came, and after a reset what it held before. The board alone writes these words. */
static void start_memory(void)
{
	struct pb_boot_block *boot = (struct pb_boot_block *)(void *)pb_card_memory;

	if (pb_shared_read32(&boot->magic) != PB_BOOT_MAGIC)
		memset(pb_card_memory, 0, MEMORY_BYTES);
	pb_shared_write32(&boot->mcu_state, PB_MCU_UNKNOWN);
	pb_shared_write32(&boot->clock, 0);
	pb_shared_write32(&boot->heartbeat_clock, 0);
}

const struct pb_firmware_config *pb_mcu_card_start(void)
{
	start_memory();
	pb_soft_engines_start(&soft_engines);
	return &config;
}
