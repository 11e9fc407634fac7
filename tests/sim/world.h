/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A card on virtual time for schedules: the firmware core, the engine models and a small card memory in one
 * process, and the faults between them. It boots again for each schedule and allocates once.
 *
 * qemu/sim.h is the card for hosts that wait inside their calls. Here the caller decides what moves next.
 */
#ifndef PB_TESTS_SIM_WORLD_H
#define PB_TESTS_SIM_WORLD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "firmware/firmware.h"
#include "hal/engine/reference.h"
#include "hal/host/host_lines.h"
#include "qemu/engine.h"
#include "qemu/mcu/nodes.h"
#include "tests/sim/random.h"

#define PB_WORLD_MEMORY_BYTES 0x80000u
#define PB_WORLD_POOL_PAGES   ((PB_WORLD_MEMORY_BYTES - PB_CARD_POOL_OFFSET) / PB_PAGE_BYTES)
/** Host memory of a channel, and of all channels of hosts, if the card has any: it lies right behind card memory. */
#define PB_WORLD_HOST_SHARE 0x20000u
#define PB_WORLD_HOST_BYTES (4u * PB_WORLD_HOST_SHARE)
/** Queues of the card, all channels together. */
#define PB_WORLD_QUEUES 32u

/** Commands that an engine ignores, bits of pb_world_node.deaf. */
#define PB_WORLD_DEAF_STOP  1u
#define PB_WORLD_DEAF_RESET 2u
#define PB_WORLD_DEAF_POWER 4u

/** How often a fault is injected: once in so many times; 0 is never. */
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
	bool running;        /**< its doorbell was rung, or it has more to run */
	bool frozen;         /**< it gets no time: a planted fault */
	bool dead;           /**< it gets no time and answers nothing, for good */
	uint32_t slow;       /**< it gets one part in so many of the time */
	uint32_t pending_us; /**< time that it has not been given yet, in microseconds */
	uint64_t late_at;    /**< when a late interrupt comes; 0: none is pending */
	uint32_t deaf;       /**< PB_WORLD_DEAF_* */
	uint64_t deaf_until; /**< virtual time */
	uint32_t progress;   /**< progress register when it last got time */
};

struct pb_world {
	uint8_t *memory;
	uint32_t memory_bytes;
	uint32_t host_bytes;  /**< host memory from the next boot on: 0 or PB_WORLD_HOST_BYTES */
	uint32_t queue_count; /**< of the card, all channels together */
	uint64_t now;         /**< microseconds since boot */
	uint64_t next_tick;   /**< virtual time */
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct pb_lines_ops lines_ops;            /**< those of host_lines, with injection points */
	struct pb_engine_run_ops run_ops;         /**< those of the reference engine, with injection points */
	struct pb_engine_preempt_ops preempt_ops; /**< those of the reference engine, with injection points */
	struct pb_engine_recover_ops recover_ops; /**< those of the reference engine, with injection points */
	struct pb_engine_memory_ops memory_ops;   /**< those of the reference engine, with injection points */
	struct pb_reference_memory tables;        /**< context of memory_ops */
	struct pb_engine_memory engine_memory;
	uint64_t doorbell_late_at[PB_LIMIT_CHANNELS]; /**< when a late doorbell comes; 0: none is pending */
	struct pb_world_node nodes[PB_CARD_NODES];
	struct pb_engine engines[PB_CARD_NODES];
	struct pb_host_window window; /**< on that host memory */
	struct pb_firmware_config config;
	struct pb_firmware *firmware;
	void *queues;
	struct pb_random random; /**< for the choice of faults */
	struct pb_world_rates rates;
	bool stopped; /**< the MCU gets no time: a planted fault */
	/**
	 * Pages of the pool that got an owner, or were cleared for a page table, since the caller cleared
	 * this.
	 */
	bool reowned[PB_WORLD_POOL_PAGES];
	uint64_t injected; /**< faults so far */
	uint32_t accesses; /**< of the firmware to shared memory and engine registers, in this pass so far */
	/**
	 * From this access of a pass on, the firmware sees a pending line: one that a host, an engine or the tick raises
	 * meanwhile. What it really is comes when the pass has ended. 0: no line.
	 */
	uint32_t line_at;
	uint32_t spent_ns; /**< cost of passes that `now` does not have yet: less than a microsecond */
	uint32_t spent_us; /**< cost of the passes since engines last got time */
	uint32_t touches;  /**< in this pass so far: see pb_world_touches */
	/** What is injected inside a pass, at the touch of this number; 0: nothing. */
	uint32_t strike_at;
	void (*strike)(void *context);
	void *strike_context;
	jmp_buf cut;
};

/** A card of the size above. @return false when out of memory */
bool pb_world_create(struct pb_world *world);
/** A card with more memory or queues. The checks of the judge on memory are for the size above. */
bool pb_world_create_sized(struct pb_world *world, uint32_t memory_bytes, uint32_t queue_count);
void pb_world_destroy(struct pb_world *world);
/** Points in a pass at which events are injected, and their number (touch_calls.c, touch_accesses.c). */
struct pb_world_touches {
	uint32_t often;      /**< in a pass that does little */
	uint32_t most;       /**< in any pass: more count as a pass that does not end */
	const char *program; /**< that runs schedules with these points */
};
extern const struct pb_world_touches pb_world_touches;
/** The world whose firmware runs; NULL outside a pass. */
extern struct pb_world *pb_world_running;
/*
 * What a pass costs, in nanoseconds of virtual time. Accesses to shared memory and engine registers are counted, not
 * instructions, so that compilers and options change nothing. The two constants are those of a Cortex-M7 at 25 MHz: one
 * submission without patches has 59 accesses in one pass and 456 instructions, of which 14 us are counted; an entry of a
 * patch list 7 accesses and 24 instructions, 0.96 us. A pass does a bounded number of steps on private memory beside its accesses;
 * the first constant has them.
 */
#define PB_WORLD_PASS_NS   5400u
#define PB_WORLD_ACCESS_NS 137u
/** The line of pb_world.line_at, which nothing else raises: pending until the pass ends. */
#define PB_WORLD_LINE (1u << 30)
/** Counts one access of the firmware. Called by the hooks of tests/unit/stepped.h. */
static inline void pb_world_access(void)
{
	struct pb_world *world = pb_world_running;

	if (world != NULL && ++world->accesses == world->line_at)
		world->host_lines.pending |= PB_WORLD_LINE;
}
/** Counts an injection point in the middle of a pass, and strikes if it is chosen. */
void pb_world_touch(struct pb_world *world);

/** Resets the card: firmware at the start of its boot, no faults. */
void pb_world_boot(struct pb_world *world, uint64_t seed);
/** Advances time: tick, late interrupts. */
void pb_world_advance(struct pb_world *world, uint32_t microseconds);
/** Whether the firmware has anything to do. */
bool pb_world_awake(const struct pb_world *world);
/** Runs one pass of the firmware. Time advances by what the pass costs. @return true: there is more to do */
bool pb_world_pass(struct pb_world *world);
/**
 * Gives every engine with something to run so much time, and the time that passes have taken since the last call.
 * @return true: one of them made progress
 */
bool pb_world_engines(struct pb_world *world, uint32_t microseconds);
/** A host rings its doorbell. The ring may get lost, or come twice. */
void pb_world_doorbell(struct pb_world *world, uint32_t channel);
/**
 * One pass that ends at the touch of that number, if it reaches it: the MCU stops there. @return true: it was
 * cut
 */
bool pb_world_pass_cut(struct pb_world *world, uint32_t touch);
/** Restarts the MCU on unchanged card memory: its private state and pending doorbells are lost. */
void pb_world_restart(struct pb_world *world);
/** Kills a node's engine: it runs nothing and answers nothing any more. */
void pb_world_kill(struct pb_world *world, uint32_t node);
/** A node's engine ignores the commands in `deaf`, for so many microseconds. */
void pb_world_deafen(struct pb_world *world, uint32_t node, uint32_t deaf, uint64_t microseconds);
/** Ends all faults: deaf engines answer again. Dead engines stay dead. */
void pb_world_end_faults(struct pb_world *world);

struct pb_engine_registers *pb_world_registers(struct pb_world *world, uint32_t node);
struct pb_boot_block *pb_world_boot_block(struct pb_world *world);

#endif
