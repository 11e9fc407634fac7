/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The nodes of the emulated card, for a board's table: initialisers of its
 * reference engines, where qemu/mcu/layout.h has them.
 */
#ifndef PB_QEMU_MCU_NODES_H
#define PB_QEMU_MCU_NODES_H

#include "hal/engine/reference.h"
#include "patchbay/abi/boot.h"
#include "qemu/mcu/layout.h"

/** Of the struct pb_reference_memory. @param window card memory, uint8_t * */
#define PB_CARD_REFERENCE_MEMORY(window)                                                                     \
	{                                                                                                    \
		.card_memory = (window), .range_offset = PB_CARD_RANGES_OFFSET,                              \
		.channels = PB_LIMIT_CHANNELS, .dummy_offset = PB_CARD_DUMMY_OFFSET,                         \
		.translation_offset = PB_CARD_TRANSLATION_OFFSET, .clear_offset = PB_CARD_CLEAR_OFFSET,      \
	}

/** Of the struct pb_reference_engine of node n. @param tables the struct pb_reference_memory, by address */
#define PB_CARD_REFERENCE_ENGINE(n, tables, board_lines)                                                     \
	{                                                                                                    \
		.memory = (tables), .registers_offset = PB_CARD_ENGINE_OFFSET + (n)*PB_CARD_ENGINE_STRIDE,   \
		.ring_offset = PB_CARD_RINGS_OFFSET + (n)*PB_CARD_RING_STRIDE, .node = (n),                  \
		.lines = (board_lines),                                                                      \
	}
/** Of an array of PB_CARD_NODES of them. */
#define PB_CARD_REFERENCE_ENGINES(tables, board_lines)                                                       \
	{                                                                                                    \
		PB_CARD_REFERENCE_ENGINE(0, tables, board_lines),                                            \
			PB_CARD_REFERENCE_ENGINE(1, tables, board_lines),                                    \
			PB_CARD_REFERENCE_ENGINE(2, tables, board_lines),                                    \
			PB_CARD_REFERENCE_ENGINE(3, tables, board_lines)                                     \
	}

/** Of the array of struct pb_engine over those. */
#define PB_CARD_ENGINE(n, reference) PB_REFERENCE_ENGINE(&(reference)[n], PB_CARD_NODE_KIND(n))
#define PB_CARD_ENGINES(reference)                                                                           \
	{                                                                                                    \
		PB_CARD_ENGINE(0, reference), PB_CARD_ENGINE(1, reference), PB_CARD_ENGINE(2, reference),    \
			PB_CARD_ENGINE(3, reference)                                                         \
	}

/**
 * Of a struct pb_firmware_config: the members that follow from the layout. The
 * board adds lines, engine_memory, engines, queues, queue_count and board.
 * @param window card memory, uint8_t *
 */
#define PB_CARD_CONFIG(window)                                                                               \
	.memory = (window), .memory_bytes = PB_CARD_TRACE_OFFSET,                                            \
	.channels_offset = PB_CARD_CHANNELS_OFFSET, .pool_offset = PB_CARD_POOL_OFFSET,                      \
	.trace_bytes = PB_CARD_TRACE_BYTES, .node_count = PB_CARD_NODES,                                     \
	.clock = &((const struct pb_boot_block *)(const void *)((window) + PB_BOOT_OFFSET))->clock,          \
	.crash_offset = PB_CARD_CRASH_OFFSET, .telemetry_offset = PB_CARD_TELEMETRY_OFFSET

#endif
