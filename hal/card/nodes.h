/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The nodes of the emulated card, for a board's table: initialisers of its
 * reference engines, where hal/card/layout.h has them.
 */
#ifndef PB_HAL_CARD_NODES_H
#define PB_HAL_CARD_NODES_H

#include "hal/card/layout.h"
#include "hal/engine/reference.h"

/** Of a struct pb_reference_engine. @param window card memory, uint8_t * */
#define PB_CARD_REFERENCE_ENGINE(n, window, board_lines)                                                     \
	{                                                                                                    \
		.memory = (window), .registers_offset = PB_CARD_ENGINE_OFFSET + (n)*PB_CARD_ENGINE_STRIDE,   \
		.ring_offset = PB_CARD_RINGS_OFFSET + (n)*PB_CARD_RING_STRIDE,                               \
		.range_offset = PB_CARD_RANGES_OFFSET, .channels = PB_LIMIT_CHANNELS,                        \
		.dummy_offset = PB_CARD_DUMMY_OFFSET, .translation_offset = PB_CARD_TRANSLATION_OFFSET,      \
		.node = (n), .lines = (board_lines),                                                         \
	}
/** Of an array of PB_CARD_NODES of them. */
#define PB_CARD_REFERENCE_ENGINES(window, board_lines)                                                       \
	{                                                                                                    \
		PB_CARD_REFERENCE_ENGINE(0, window, board_lines),                                            \
			PB_CARD_REFERENCE_ENGINE(1, window, board_lines),                                    \
			PB_CARD_REFERENCE_ENGINE(2, window, board_lines),                                    \
			PB_CARD_REFERENCE_ENGINE(3, window, board_lines)                                     \
	}

/** Of the array of struct pb_engine over those. */
#define PB_CARD_ENGINE(n, reference)                                                                         \
	{                                                                                                    \
		.ops = &pb_reference_engine_ops, .context = &(reference)[n], .kind = PB_CARD_NODE_KIND(n)    \
	}
#define PB_CARD_ENGINES(reference)                                                                           \
	{                                                                                                    \
		PB_CARD_ENGINE(0, reference), PB_CARD_ENGINE(1, reference), PB_CARD_ENGINE(2, reference),    \
			PB_CARD_ENGINE(3, reference)                                                         \
	}

#endif
