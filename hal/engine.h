/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One node's engine: a ring that runs indirect buffers in order, a sequence
 * number that it reports, and a reset. Thread context only; nothing blocks.
 */
#ifndef PB_HAL_ENGINE_H
#define PB_HAL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/base.h"

/** What one slot of the ring runs. */
struct pb_engine_work {
	uint32_t owner;        /**< PB_ENGINE_OWNER */
	uint32_t address_low;  /**< GPU address of the first byte to run, 4-byte aligned */
	uint32_t address_high; /**< high word */
	uint32_t bytes;        /**< multiple of 4; 0 runs nothing and is still fenced in order */
};

/*
 * Whose work it is:
 *
 *   31          16 15    9   8   7        0
 *  +--------------+-------+-----+----------+
 *  |   context    |   0   |  P  | channel  |   P: privileged, may run paging packets
 *  +--------------+-------+-----+----------+
 */
/** An owner, made of its parts. */
#define PB_ENGINE_OWNER(channel, context) ((uint32_t)(channel) | (uint32_t)(context) << 16)
#define PB_ENGINE_OWNER_PRIVILEGED        0x100u /**< P */
/** The context of work that has none. */
#define PB_ENGINE_OWNER_NOBODY 0xffffu

/** Addresses that a channel's work may touch: whole pages, in all three numbers. */
struct pb_engine_range {
	uint64_t gpu_base;      /**< first GPU address */
	uint32_t bytes;         /**< 0: the range is not there */
	uint32_t memory_offset; /**< where it lies in card memory; paged: where its page table lies */
	bool paged; /**< an aperture: each page lies where its page table entry says, in a range that is not paged */
};

/** Bytes of page table for an aperture of so many bytes. */
#define PB_ENGINE_TABLE_BYTES(bytes) ((bytes) / PB_PAGE_BYTES * 4u)

/** What an engine says of itself. Foreign values. */
struct pb_engine_report {
	uint32_t sequence; /**< the last one whose work and stores are complete: range-check it */
	uint32_t time;     /**< microseconds that it has been running something, modulo 2^32 */
};

/** Where an engine was when it stopped. Foreign values: range-check them. */
struct pb_engine_stop {
	uint32_t sequence; /**< the last one complete; the numbering starts anew after this */
	uint32_t running;  /**< not 0: the one that had begun, which save() tells about */
};

/** Why the engine stopped. */
struct pb_engine_fault {
	uint32_t sequence; /**< of the work it stopped in */
	uint32_t code;     /**< engine-specific, not 0 */
};

/** What an engine is doing. */
enum pb_engine_state {
	PB_ENGINE_READY = 0,   /**< runs what it is fed */
	PB_ENGINE_FAULTED = 1, /**< stopped inside a buffer, until reset() */
	PB_ENGINE_BUSY =
		2, /**< it has not answered the last stop(), reset() or power_cycle(); feed nothing */
};

/** Most slots that may be fed and not yet reported; a driver's ring holds at least as many. */
#define PB_ENGINE_SLOTS 16u
/** Ranges of one channel. */
#define PB_ENGINE_RANGES 32u

/** Operations of an engine driver; all are called in thread context. */
struct pb_engine_ops {
	/**
	 * Puts work into the next slot with a fence of the given sequence number
	 * behind it, and rings the engine. The core feeds sequence 1 first after
	 * a reset, then consecutive numbers, and never more than PB_ENGINE_SLOTS
	 * unreported. Everything stored before is visible to the engine. Never
	 * called while the engine is BUSY.
	 */
	void (*feed)(void *context, const struct pb_engine_work *work, uint32_t sequence);
	/** What the engine is doing. The report says nothing while it is BUSY. */
	enum pb_engine_state (*poll)(void *context, struct pb_engine_report *report);
	/**
	 * Asks it to stop: at the end of the buffer it runs, or with `inside` at
	 * the next place inside it where it can go on later. What is behind that
	 * is dropped from the ring. Answered when poll() no longer says BUSY; the
	 * line is raised then. Then the ring is empty and the core feeds sequence 1
	 * first, as after a reset. Never called while it is BUSY or FAULTED, but it
	 * may fault before it stops; that shows as FAULTED behind the answer.
	 */
	void (*stop)(void *context, bool inside);
	/** Where it stopped. Called once, after the answer to a stop(). */
	void (*stopped)(void *context, struct pb_engine_stop *stop);
	/** Keeps the progress of the work that had begun, PB_SAVE_WORDS words of card memory. Before the next feed. */
	void (*save)(void *context, uint32_t *words);
	/**
	 * The next work fed goes on from what save() kept, which may be foreign
	 * by now: the engine checks it like the work itself.
	 */
	void (*restore)(void *context, const uint32_t *words);
	/** Reads why it stopped; foreign values. Called in state FAULTED only. */
	void (*fault)(void *context, struct pb_engine_fault *fault);
	/** Drops all work, empties the ring, sequence 0. Done when poll() says READY; the line is raised then. */
	void (*reset)(void *context);
	/** The same by force, for an engine that does not answer a reset(): power, or the reset line of the node. */
	void (*power_cycle)(void *context);
	/**
	 * A stopwatch for hangs: `progress` changes whenever the engine gets on,
	 * the result is the engine's own running time in microseconds, modulo 2^32.
	 */
	uint32_t (*stopwatch)(void *context, uint32_t *progress);
	/**
	 * Sets one of the ranges of a channel, for all nodes. The core changes or
	 * removes a range only while the channel has no work fed; adding one is
	 * safe at any time, `bytes` becomes visible last.
	 */
	void (*set_range)(void *context, uint32_t channel, uint32_t index,
			  const struct pb_engine_range *range);
	/**
	 * Reads one entry of a page table, for the MCU's own way through an aperture.
	 * @return the page's offset in card memory (foreign: range-check it), or 0 if it is not mapped
	 */
	uint32_t (*page)(void *context, uint32_t table_offset, uint32_t index);
	/** Writes `count` page table entries as not mapped, and has all nodes forget what they said. */
	void (*page_clear)(void *context, uint32_t table_offset, uint32_t index, uint32_t count);
};

/** An engine driver with its state; both live as long as the firmware. */
struct pb_engine {
	const struct pb_engine_ops *ops; /**< the driver's */
	void *context;                   /**< their first argument */
	uint32_t kind;                   /**< enum pb_node_kind */
};

#endif
