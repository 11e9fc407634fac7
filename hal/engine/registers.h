/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Register block of the reference engine, in card memory: what its driver
 * (hal/engine/reference.h) and its model (hal/engine_model/) agree on. Not for hosts.
 */
#ifndef PB_HAL_ENGINE_REGISTERS_H
#define PB_HAL_ENGINE_REGISTERS_H

#include "patchbay/abi/submission.h"

/*
 * command and command_done:
 *
 *   31                    3 2   0
 *  +-----------------------+-----+
 *  |        counter        | op  |
 *  +-----------------------+-----+
 *
 * The engine carries out a command when it differs from command_done, stores
 * it there and raises the node's line. Only the last command given counts: one
 * that has not been answered is forgotten for the next. `tail` becomes 0 before
 * each of RESET, STOP and STOP_INSIDE.
 */
#define PB_ENGINE_COMMAND_OP_MASK     7u
#define PB_ENGINE_COMMAND_RESET       1u /**< head, sequence and fault become 0, the ring is empty */
#define PB_ENGINE_COMMAND_CONTINUE    2u /**< leave the faulted buffer, go on behind it */
#define PB_ENGINE_COMMAND_STOP        3u /**< at the end of the buffer it runs; head and sequence become 0 */
#define PB_ENGINE_COMMAND_STOP_INSIDE 4u /**< as STOP, or between two packets of the outermost buffer */
#define PB_ENGINE_COMMAND_ONE         8u

/** Why the engine faulted; 0 is none. */
enum pb_engine_fault_code {
	PB_ENGINE_FAULT_NONE = 0,
	PB_ENGINE_FAULT_PACKET = 1,    /**< unknown opcode, wrong length, or cut off by the buffer's end */
	PB_ENGINE_FAULT_ADDRESS = 2,   /**< an access outside the channel's ranges */
	PB_ENGINE_FAULT_ALIGNMENT = 3, /**< address or size not a multiple of 4 */
	PB_ENGINE_FAULT_VALUE = 4,     /**< an operand out of its documented range */
	PB_ENGINE_FAULT_STATE = 5,     /**< draw without target or texture */
	PB_ENGINE_FAULT_NESTING = 6,   /**< indirect buffers nested too deep */
	PB_ENGINE_FAULT_ASKED = 7,     /**< the FAULT packet */
	PB_ENGINE_FAULT_NODE = 8,      /**< this node's engine does not have that packet */
	/** a page of an aperture is not mapped: the access went to the dummy page */
	PB_ENGINE_FAULT_PAGE = 9,
	PB_ENGINE_FAULT_PRIVILEGE = 10, /**< a paging packet of a submission that is not privileged */
	PB_ENGINE_FAULT_RENDERER =
		11, /**< GL engines: the renderer of the slot's owner is lost, or refused a packet */
};

/** pb_engine_progress.version: the layout below. */
#define PB_ENGINE_PROGRESS_VERSION 0x50425031u
/** Operands of TARGET and TEXTURE. */
#define PB_ENGINE_SURFACE_WORDS 5u

/**
 * The progress of a slot. The engine writes it when it stops inside a slot; the
 * MCU stores it back later, from memory that clients can write: the engine
 * trusts none of its words. docs/engine.md has the checks.
 */
struct pb_engine_progress {
	uint32_t version; /**< PB_ENGINE_PROGRESS_VERSION */
	uint32_t offset;  /**< bytes of the slot's own buffer that are done */
	/** Operands of the packets in force, 1 to 5, or all 0 where there was none. */
	uint32_t target[PB_ENGINE_SURFACE_WORDS];
	uint32_t texture[PB_ENGINE_SURFACE_WORDS];
	uint32_t reserved[3]; /**< 0 */
	uint32_t command; /**< written by the MCU: valid while this is command_done; the engine writes 0 */
};
PB_SIZE(pb_engine_progress, PB_SAVE_WORDS * 4);
PB_AT(pb_engine_progress, version, 0);
PB_AT(pb_engine_progress, offset, 4);
PB_AT(pb_engine_progress, target, 8);
PB_AT(pb_engine_progress, texture, 28);
PB_AT(pb_engine_progress, reserved, 48);
PB_AT(pb_engine_progress, command, 60);

/** One node, 256 bytes. */
struct pb_engine_registers {
	/* line 0: written by the MCU */
	uint32_t ring_offset;  /**< array of struct pb_engine_slot in card memory, in bytes */
	uint32_t ring_slots;   /**< power of two */
	uint32_t tail;         /**< slots fed since the last reset or stop */
	uint32_t command;      /**< see above */
	uint32_t range_offset; /**< struct pb_engine_range_entry[channel][PB_ENGINE_RANGES] in card memory */
	uint32_t channels;     /**< rows of that table */
	uint32_t dummy_offset; /**< one page of card memory: takes accesses to pages that are not mapped */
	uint32_t translation_offset; /**< the struct pb_engine_translation of the card */
	uint32_t power; /**< equal to command, stored after it: a RESET by force, whatever it is doing */
	uint32_t restore_offset; /**< array of struct pb_engine_progress in card memory, one for each slot */
	uint32_t cut; /**< not 0: it executes nothing, and reaches only this block, until it is 0 again */
	uint32_t line0_reserved[5];

	/* line 1: written by the engine */
	uint32_t head;           /**< slots run since the last reset or stop */
	uint32_t sequence;       /**< of the last fence run; 0 after a reset or stop */
	uint32_t command_done;   /**< the last command carried out */
	uint32_t fault_code;     /**< enum pb_engine_fault_code; not 0 while stopped */
	uint32_t fault_sequence; /**< of the slot it stopped in */
	uint32_t fault_address_low;
	uint32_t fault_address_high;
	uint32_t progress; /**< changes with every packet, and within long ones */
	uint32_t time;     /**< microseconds that the engine has been running something, modulo 2^32 */
	/** Of the last fence run before the last stop, and behind the reset or stop before that; 0: none. */
	uint32_t stop_sequence;
	uint32_t stop_running; /**< of the slot that it stopped inside; 0: none */
	uint32_t power_done;   /**< the last command carried out by force */
	uint32_t line1_reserved[4];

	/* line 2: written by the engine */
	struct pb_engine_progress save; /**< of the slot that it stopped inside */

	uint32_t line3_reserved[16];
};
PB_SIZE(pb_engine_registers, 256);
PB_AT(pb_engine_registers, ring_offset, 0);
PB_AT(pb_engine_registers, ring_slots, 4);
PB_AT(pb_engine_registers, tail, 8);
PB_AT(pb_engine_registers, command, 12);
PB_AT(pb_engine_registers, range_offset, 16);
PB_AT(pb_engine_registers, channels, 20);
PB_AT(pb_engine_registers, dummy_offset, 24);
PB_AT(pb_engine_registers, translation_offset, 28);
PB_AT(pb_engine_registers, power, 32);
PB_AT(pb_engine_registers, restore_offset, 36);
PB_AT(pb_engine_registers, cut, 40);
PB_AT(pb_engine_registers, line0_reserved, 44);
PB_AT(pb_engine_registers, head, 64);
PB_AT(pb_engine_registers, sequence, 68);
PB_AT(pb_engine_registers, command_done, 72);
PB_AT(pb_engine_registers, fault_code, 76);
PB_AT(pb_engine_registers, fault_sequence, 80);
PB_AT(pb_engine_registers, fault_address_low, 84);
PB_AT(pb_engine_registers, fault_address_high, 88);
PB_AT(pb_engine_registers, progress, 92);
PB_AT(pb_engine_registers, time, 96);
PB_AT(pb_engine_registers, stop_sequence, 100);
PB_AT(pb_engine_registers, stop_running, 104);
PB_AT(pb_engine_registers, power_done, 108);
PB_AT(pb_engine_registers, line1_reserved, 112);
PB_AT(pb_engine_registers, save, 128);
PB_AT(pb_engine_registers, line3_reserved, 192);

/** One slot of a node's ring: an indirect buffer and its fence, written by the MCU. */
struct pb_engine_slot {
	uint32_t buffer_header; /**< PB_PACKET_INDIRECT with 5 words */
	uint32_t owner;         /**< PB_ENGINE_OWNER (hal/engine.h) */
	uint32_t address_low;
	uint32_t address_high;
	uint32_t bytes;        /**< 0 runs nothing */
	uint32_t fence_header; /**< PB_PACKET_FENCE with 2 words */
	uint32_t sequence;     /**< stored into the sequence register, then the line is raised */
	uint32_t resume; /**< equal to sequence: it goes on from its struct pb_engine_progress, if valid */
};
PB_SIZE(pb_engine_slot, 32);
PB_AT(pb_engine_slot, buffer_header, 0);
PB_AT(pb_engine_slot, owner, 4);
PB_AT(pb_engine_slot, address_low, 8);
PB_AT(pb_engine_slot, address_high, 12);
PB_AT(pb_engine_slot, bytes, 16);
PB_AT(pb_engine_slot, fence_header, 20);
PB_AT(pb_engine_slot, sequence, 24);
PB_AT(pb_engine_slot, resume, 28);

/**
 * One range of the table that every node shares, written by the MCU. bytes 0:
 * not there. Base, bytes and offset are whole pages.
 */
struct pb_engine_range_entry {
	uint32_t gpu_base_low;
	uint32_t gpu_base_high;
	uint32_t bytes;
	uint32_t memory_offset; /**< where it lies in card memory, and PB_ENGINE_RANGE_PAGED */
};
/** Bit of memory_offset: an aperture; the rest is the offset of its page table. */
#define PB_ENGINE_RANGE_PAGED 1u

PB_SIZE(pb_engine_range_entry, 16);
PB_AT(pb_engine_range_entry, gpu_base_low, 0);
PB_AT(pb_engine_range_entry, gpu_base_high, 4);
PB_AT(pb_engine_range_entry, bytes, 8);
PB_AT(pb_engine_range_entry, memory_offset, 12);

/*
 * Page table (GART) of an aperture: a word for each page, written by the
 * engine as it runs MAP_APERTURE and UNMAP_APERTURE, and cleared by the MCU
 * before it shows the range.
 *
 *   31                          12 11         1   0
 *  +------------------------------+------------+-----+
 *  | page's offset in card memory |     0      |  V  |   V: mapped
 *  +------------------------------+------------+-----+
 */
#define PB_ENGINE_PAGE_VALID 1u

/**
 * Keeps the translation caches of a card's engines coherent, 128 bytes. Each
 * engine caches words of page tables; between two packets it empties its cache
 * if a counter here has changed, and on a reset. Nothing else empties it.
 */
struct pb_engine_translation {
	/* line 0: written by the MCU */
	uint32_t cleared; /**< counts up after it has cleared words of a page table */
	uint32_t line0_reserved[15];

	/* line 1: written by the engines, which add to it in one access */
	uint32_t changed; /**< counts up after packets have stored into page tables */
	uint32_t line1_reserved[15];
};
PB_SIZE(pb_engine_translation, 128);
PB_AT(pb_engine_translation, cleared, 0);
PB_AT(pb_engine_translation, changed, 64);

/**
 * The clearing unit of a card with outer memory (hal/outer_memory.h), 128
 * bytes. It clears one range at a time, whatever the engines do. A request that
 * does not lie in outer memory is never answered.
 */
struct pb_engine_clear {
	/* line 0: written by the MCU */
	uint32_t offset;  /**< of the range, from the start of card memory, whole pages */
	uint32_t bytes;   /**< of the range, whole pages */
	uint32_t request; /**< changed last: clear the range */
	uint32_t line0_reserved[13];

	/* line 1: written by the card */
	uint32_t done;        /**< the last request carried out; the unit is idle while it equals `request` */
	uint32_t outer_bytes; /**< how much outer memory the card has; written before the MCU starts */
	uint32_t line1_reserved[14];
};
PB_SIZE(pb_engine_clear, 128);
PB_AT(pb_engine_clear, offset, 0);
PB_AT(pb_engine_clear, bytes, 4);
PB_AT(pb_engine_clear, request, 8);
PB_AT(pb_engine_clear, done, 64);
PB_AT(pb_engine_clear, outer_bytes, 68);

#endif
