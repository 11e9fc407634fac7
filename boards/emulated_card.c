/* SPDX-License-Identifier: MIT */
#include "boards/emulated_card.h"

#include "qemu/mcu/nodes.h"

#define QUEUES 4096u

static struct pb_reference_memory tables = PB_CARD_REFERENCE_MEMORY((uint8_t *)PB_CARD_MEMORY);
static const struct pb_engine_memory engine_memory = {&pb_reference_memory_ops, &tables};

static struct pb_reference_engine reference[PB_CARD_NODES] =
	PB_CARD_REFERENCE_ENGINES(&tables, &pb_emulated_card_lines);

static const struct pb_engine engines[PB_CARD_NODES] = PB_CARD_ENGINES(reference);

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

const struct pb_firmware_config pb_emulated_card_config = {
	PB_CARD_CONFIG((uint8_t *)PB_CARD_MEMORY),
	.lines = &pb_emulated_card_lines,
	.engine_memory = &engine_memory,
	.engines = engines,
	.queues = queues,
	.queue_count = QUEUES,
	.board = pb_emulated_card_name,
	.host = &pb_emulated_card_host,
};
