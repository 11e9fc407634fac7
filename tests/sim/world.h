/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A card on virtual time for schedules: the firmware core, the engine models and a small card memory in one
 * process, and what goes wrong between them. It is booted anew for each schedule and allocates once.
 *
 * qemu/sim.h is the same card for hosts that wait inside their calls; here the caller decides what moves next.
 */
#ifndef PB_TESTS_SIM_WORLD_H
#define PB_TESTS_SIM_WORLD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "firmware/firmware.h"
#include "hal/card/layout.h"
#include "hal/engine/reference.h"
#include "hal/host/host_lines.h"
#include "qemu/engine.h"
#include "tests/sim/random.h"

#define PB_WORLD_MEMORY_BYTES 0x80000u
#define PB_WORLD_POOL_PAGES   ((PB_WORLD_MEMORY_BYTES - PB_CARD_POOL_OFFSET) / PB_PAGE_BYTES)
/** Queues of the card, all channels together. */
#define PB_WORLD_QUEUES 32u

/** What an engine does not hear, bits of pb_world_node.deaf. */
#define PB_WORLD_DEAF_STOP  1u
#define PB_WORLD_DEAF_RESET 2u
#define PB_WORLD_DEAF_POWER 4u

/** How often something goes wrong: once in so many times; 0 is never. */
struct pb_world_rates {
	uint32_t interrupt_lost;
	uint32_t interrupt_late;
	uint32_t interrupt_spurious; /**< in so many steps */
	uint32_t doorbell_lost;
	uint32_t doorbell_twice;
	uint32_t doorbell_late;
};

struct pb_world;

struct pb_world_node {
	struct pb_reference_engine driver;
	struct pb_engine_model *model;
	struct pb_world *world;
	bool running;        /**< it was rung, or has more to run */
	bool frozen;         /**< it is given no time: a way to break the world on purpose */
	bool dead;           /**< it is given no time and hears nothing, for good */
	uint32_t slow;       /**< it gets one part in so many of the time that goes by */
	uint32_t owed;       /**< time that it has not been given yet, in parts */
	uint64_t late_at;    /**< when a late interrupt comes; 0: none is under way */
	uint32_t deaf;       /**< PB_WORLD_DEAF_* */
	uint64_t deaf_until; /**< virtual time */
	uint32_t progress;   /**< of its registers, when it was last given time */
};

struct pb_world {
	uint8_t *memory;
	uint64_t now;       /**< microseconds since boot */
	uint64_t next_tick; /**< virtual time */
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct pb_lines_ops lines_ops;                /**< those of host_lines, each of which may be struck */
	struct pb_engine_ops engine_ops;              /**< those of the reference engine, in the same way */
	uint64_t doorbell_late_at[PB_LIMIT_CHANNELS]; /**< when a late ring comes; 0: none is under way */
	struct pb_world_node nodes[PB_CARD_NODES];
	struct pb_engine engines[PB_CARD_NODES];
	struct pb_firmware_config config;
	struct pb_firmware *firmware;
	void *queues;
	struct pb_random random; /**< of what goes wrong */
	struct pb_world_rates rates;
	bool stopped; /**< the MCU is given no time: a way to break the world on purpose */
	/** Pages of the pool that were given out, or cleared for a page table, since the owner cleared this. */
	bool given[PB_WORLD_POOL_PAGES];
	uint64_t injected; /**< faults so far */
	uint32_t touches;  /**< in this pass so far: see pb_world_touches */
	/** What happens inside a pass, at the touch of this number; 0: nothing. */
	uint32_t strike_at;
	void (*strike)(void *context);
	void *strike_context;
	jmp_buf cut;
};

/** @return false when out of memory */
bool pb_world_create(struct pb_world *world);
void pb_world_destroy(struct pb_world *world);
/** Where in a pass something may happen, and how often that is (touch_calls.c, touch_accesses.c). */
struct pb_world_touches {
	uint32_t often;      /**< in a pass that does little */
	uint32_t most;       /**< in any pass: more count as a pass that does not end */
	const char *program; /**< that runs schedules in this way */
};
extern const struct pb_world_touches pb_world_touches;
/** The world whose firmware runs. */
extern struct pb_world *pb_world_running;
/** The firmware is in the middle of a pass. */
void pb_world_touch(struct pb_world *world);

/** A fresh card, its firmware at the start of its boot, nothing going wrong. */
void pb_world_boot(struct pb_world *world, uint64_t seed);
/** Time moves on: tick, late interrupts. */
void pb_world_advance(struct pb_world *world, uint32_t microseconds);
/** Whether the firmware would do anything. */
bool pb_world_awake(const struct pb_world *world);
/** One pass of the firmware. @return true: there is more to do */
bool pb_world_pass(struct pb_world *world);
/** Gives every engine that has something to run so much time. @return true: one of them got on */
bool pb_world_engines(struct pb_world *world, uint32_t microseconds);
/** A host rings. The ring may get lost, or come again. */
void pb_world_doorbell(struct pb_world *world, uint32_t channel);
/** One pass that ends at the touch of that number, if it gets so far: the MCU stops there. @return true: it was cut */
bool pb_world_pass_cut(struct pb_world *world, uint32_t touch);
/** The MCU starts again on the same memory: nothing that it knew is left, rings that it had not heard are lost. */
void pb_world_restart(struct pb_world *world);
/** A node's engine runs nothing and answers nothing any more. */
void pb_world_kill(struct pb_world *world, uint32_t node);
/** A node's engine no longer hears what `deaf` says, for so many microseconds. */
void pb_world_deafen(struct pb_world *world, uint32_t node, uint32_t deaf, uint64_t microseconds);
/** Everything works from now on; who was deaf hears what was said. What is dead stays dead. */
void pb_world_heal(struct pb_world *world);

struct pb_engine_registers *pb_world_registers(struct pb_world *world, uint32_t node);
struct pb_boot_block *pb_world_boot_block(struct pb_world *world);

#endif
