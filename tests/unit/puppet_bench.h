/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware core with one node, whose engine is told by the test what to
 * say: late, silent, or wrong. Time is the test's too.
 */
#ifndef PB_TESTS_UNIT_PUPPET_BENCH_H
#define PB_TESTS_UNIT_PUPPET_BENCH_H

#include "firmware/firmware.h"
#include "hal/host/host_lines.h"
#include "patchbay/patchbay.h"
#include "tests/unit/unit.h"

#define PUPPET_MEMORY_BYTES 0x80000u
#define PUPPET_TRACE_BYTES  0x1000u
#define PUPPET_DMA          0x10000u
#define PUPPET_HANG_MS      100u
#define PUPPET_FED_MAX      32u

/** An engine that does nothing of itself. */
struct puppet {
	struct pb_engine_submission fed[PUPPET_FED_MAX];
	uint32_t sequences[PUPPET_FED_MAX];
	uint32_t count;
	uint32_t resets;
	uint32_t cycles; /**< power_cycle() */
	enum pb_engine_state state;
	uint32_t sequence;
	uint32_t progress;
	uint32_t time;
	uint32_t ranges[PB_LIMIT_CHANNELS][PB_ENGINE_RANGES]; /**< their bytes, as set */
	uint32_t poll_takes;           /**< microseconds of the card's clock for a poll() */
	uint32_t restores;             /**< restore() */
	uint32_t stops;                /**< stop() */
	uint32_t stopped_inside;       /**< those of them that may be inside a submission */
	struct pb_engine_stop stopped; /**< what it says of the last of them */
	bool cannot_stop;              /**< the engine has no preempt operations; for puppet_boot() */
};

struct puppet_bench {
	uint8_t *memory;
	struct pb_firmware *firmware;
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct puppet puppet;
	struct pb_engine engine;
	struct pb_engine_memory engine_memory;
	struct pb_firmware_config config;
	struct pb_link link;
	uint64_t now;
	struct pb_channel channel;
	struct pb_link admin_link; /**< since puppet_join_admin */
	struct pb_channel admin;   /**< likewise */
	struct pb_segment system;
	struct pb_queue queue;
	uint32_t contexts[3];
	uint32_t clock;
	uint64_t queues[8u * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];
};
extern struct puppet_bench puppet_bench;
extern uint8_t puppet_memory[PUPPET_MEMORY_BYTES];

/** Boots the firmware; its engine has not answered the reset. */
void puppet_boot(void);
/** Answers the reset of a boot, and attaches anew with memory, contexts and a queue. */
void puppet_rejoin(void);
/** Group set-up: a channel with its memory, three contexts and a queue of eight. */
int puppet_start(void **state);
/** As puppet_start(), with an engine that has no preempt operations. */
int puppet_start_without_preempt(void **state);
/** The same on a board with room for a trace, behind its memory. */
int puppet_start_traced(void **state);
/** Attaches the admin's channel as well. */
void puppet_join_admin(void);
/** Raises lines and lets the firmware run until it has nothing to do. */
void puppet_run(uint32_t lines);
/** The engine has done a reset. */
void puppet_reset_done(void);
/** The engine has stopped, behind so many works, and inside another one if `running` is not 0. */
void puppet_stop_done(uint32_t sequence, uint32_t running);
/** One word to run, in a context of the bench; fence id as given. */
void puppet_submit(uint32_t context, uint32_t fence_id);
void puppet_expect_fence(uint32_t completed, uint32_t fence_id, enum pb_error status);
/** The engine reports what it has finished. */
void puppet_finish(uint32_t sequence);
/** Time on the card's clock in which the engine runs without progress, with its ticks. */
void puppet_stall(uint32_t milliseconds);

#endif
