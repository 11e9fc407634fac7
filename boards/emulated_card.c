/* SPDX-License-Identifier: MIT */
#include "boards/emulated_card.h"

#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "qemu/mcu/nodes.h"

#define QUEUES          4096u
#define OUTER_BYTES_MAX (PB_CARD_MEMORY_BYTES_MAX - PB_CARD_MEMORY_BYTES)

static struct pb_reference_memory tables = PB_CARD_REFERENCE_MEMORY((uint8_t *)PB_CARD_MEMORY);
static const struct pb_engine_memory engine_memory = {&pb_reference_memory_ops, &tables};

static struct pb_reference_engine reference[PB_CARD_NODES] =
	PB_CARD_REFERENCE_ENGINES(&tables, &pb_emulated_card_lines);

static const struct pb_engine engines[PB_CARD_NODES] = PB_CARD_ENGINES(reference);

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

PB_STATIC_ASSERT(PB_CARD_OUTER_OFFSET >= PB_CARD_MEMORY_BYTES &&
			 (PB_CARD_OUTER_OFFSET + OUTER_BYTES_MAX <= PB_CARD_HOST_OFFSET ||
			  PB_CARD_OUTER_OFFSET >= PB_CARD_HOST_OFFSET + PB_CARD_HOST_BYTES),
		 "outer memory lies behind the MCU's window, apart from host memory");
struct pb_outer_memory pb_emulated_card_outer = {.offset = PB_CARD_OUTER_OFFSET};

const struct pb_firmware_config pb_emulated_card_config = {
	PB_CARD_CONFIG((uint8_t *)PB_CARD_MEMORY),
	.counter = (const uint32_t *)PB_CARD_COUNTER,
	.counter_hertz = PB_CARD_COUNTER_HERTZ,
	.lines = &pb_emulated_card_lines,
	.engine_memory = &engine_memory,
	.engines = engines,
	.queues = queues,
	.queue_count = QUEUES,
	.board = pb_emulated_card_name,
	.host = &pb_emulated_card_host,
	.outer = &pb_emulated_card_outer,
};

/* The card wrote the word before the MCU started, but a host can write it too. */
void pb_emulated_card_start(void)
{
	const struct pb_engine_clear *unit =
		(const struct pb_engine_clear *)(PB_CARD_MEMORY + PB_CARD_CLEAR_OFFSET);
	const uint32_t bytes = pb_shared_read32(&unit->outer_bytes);

	if (bytes % PB_PAGE_BYTES == 0 && bytes <= OUTER_BYTES_MAX)
		pb_emulated_card_outer.bytes = bytes;
}
