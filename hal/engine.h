/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The engine of one node: a ring that runs indirect buffers in order, a sequence
 * number that the engine reports, and a reset. Thread context only; nothing
 * blocks.
 */
#ifndef PB_HAL_ENGINE_H
#define PB_HAL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/base.h"

/** What one slot of the ring runs. */
struct pb_engine_submission {
	uint32_t owner;        /**< PB_ENGINE_OWNER */
	uint32_t address_low;  /**< GPU address of the first byte to run, 4-byte aligned */
	uint32_t address_high; /**< high word */
	uint32_t bytes;        /**< multiple of 4; 0 runs nothing and is still fenced in order */
};

/*
 * The owner of a submission:
 *
 *   31          16 15    9   8   7        0
 *  +--------------+-------+-----+----------+
 *  |   context    |   0   |  P  | channel  |   P: privileged, may run paging packets
 *  +--------------+-------+-----+----------+
 */
/** Makes an owner of its parts. */
#define PB_ENGINE_OWNER(channel, context) ((uint32_t)(channel) | (uint32_t)(context) << 16)
#define PB_ENGINE_OWNER_PRIVILEGED        0x100u /**< P */
/** The context field of a submission that has no context. */
#define PB_ENGINE_CONTEXT_NONE 0xffffu

/** What an engine reports. Foreign values: range-check them. */
struct pb_engine_report {
	uint32_t sequence; /**< the last submission that is complete, with its stores */
	uint32_t time;     /**< microseconds for which the engine has run submissions, modulo 2^32 */
};

/** Where an engine was when it stopped. Foreign values: range-check them. */
struct pb_engine_stop {
	uint32_t sequence; /**< the last submission that is complete; the next one fed is 1 */
	uint32_t running;  /**< not 0: the submission that had begun, whose progress save() stores */
};

/** Why the engine stopped. */
struct pb_engine_fault {
	uint32_t sequence; /**< of the submission that faulted */
	uint32_t code;     /**< engine-specific, not 0 */
};

/** What an engine is doing. */
enum pb_engine_state {
	PB_ENGINE_READY = 0,   /**< runs the submissions that it is fed */
	PB_ENGINE_FAULTED = 1, /**< stopped inside a buffer, until reset() */
	PB_ENGINE_BUSY =
		2, /**< it has not answered the last stop(), reset() or power_cycle(); feed nothing */
};

/** Most slots that may be fed and not yet reported; a driver's ring holds at least as many. */
#define PB_ENGINE_SLOTS 16u
/*
 * The operations of an engine driver, in three tables. All are called by the
 * firmware, in thread context; none blocks or waits for the engine.
 */

/** Running: what every engine can do. */
struct pb_engine_run_ops {
	/**
	 * Puts a submission into the next slot with a fence of the given sequence
	 * number behind it, and rings the engine. The firmware feeds sequence 1
	 * first after a reset, then consecutive numbers, and never more than
	 * PB_ENGINE_SLOTS unreported. Everything stored before is visible to the
	 * engine. Never called while the engine is BUSY.
	 */
	void (*feed)(void *context, const struct pb_engine_submission *submission, uint32_t sequence);
	/** Returns what the engine is doing. The report is undefined while it is BUSY. */
	enum pb_engine_state (*poll)(void *context, struct pb_engine_report *report);
	/**
	 * Reads the runtime counter, by which hangs are found: sets `progress` to
	 * a number that changes whenever the engine makes progress, and returns the
	 * engine's own running time in microseconds, modulo 2^32.
	 */
	uint32_t (*runtime)(void *context, uint32_t *progress);
};

/** Preemption: optional as a whole. */
struct pb_engine_preempt_ops {
	/**
	 * Asks the engine to stop: at the end of the buffer it runs, or with
	 * `inside` at the next point inside it where it can resume later. The
	 * slots behind that are dropped from the ring. Answered when poll() no
	 * longer returns BUSY; the node's line is raised then. Then the ring is
	 * empty and the firmware feeds sequence 1 first, as after a reset. Never
	 * called while the engine is BUSY or FAULTED, but it may fault before it
	 * stops; poll() returns FAULTED after the answer then.
	 */
	void (*stop)(void *context, bool inside);
	/** Reads where the engine stopped. Called once, after the answer to a stop(). */
	void (*stopped)(void *context, struct pb_engine_stop *stop);
	/**
	 * Stores the progress of the submission that had begun to `words`,
	 * PB_SAVE_WORDS words of card memory. Called before the next feed().
	 */
	void (*save)(void *context, uint32_t *words);
	/**
	 * Has the next submission fed resume from what save() stored. `words` may
	 * be foreign by now: the engine checks them as it checks a submission.
	 */
	void (*restore)(void *context, const uint32_t *words);
};

/** Recovery from faults and hangs. */
struct pb_engine_recover_ops {
	/** Reads why the engine stopped; foreign values. Called in state FAULTED only. */
	void (*fault)(void *context, struct pb_engine_fault *fault);
	/** Drops all submissions, empties the ring, sequence 0. Done when poll() returns READY; the node's line is raised then. */
	void (*reset)(void *context);
	/** As reset(), by force, for an engine that does not answer a reset(): power, or the reset line of the node. */
	void (*power_cycle)(void *context);
	/**
	 * Cuts the engine off from card memory, whatever it executes, until the
	 * next reset(). Called once, when the firmware gives the engine up; it has
	 * answered neither reset() nor power_cycle(). In force when the call
	 * returns: what the engine has stored before is visible to the MCU.
	 * @return false: the hardware cannot. Memory that the engine may reach is not given to another client then
	 */
	bool (*cut_off)(void *context);
};

/** An engine driver with its state; all of it lives as long as the firmware. */
struct pb_engine {
	const struct pb_engine_run_ops *run; /**< the driver's */
	const struct pb_engine_preempt_ops
		*preempt; /**< NULL: the engine cannot stop; it runs all it was fed */
	const struct pb_engine_recover_ops *recover; /**< the driver's */
	void *context;                               /**< first argument of all operations */
	uint32_t kind;                               /**< enum pb_node_kind */
};

#endif
