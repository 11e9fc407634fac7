/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware core as a board sees it: hand it the card's memory, lines and
 * engines, then call pass and idle for ever. Thread context only; interrupt
 * handlers belong to the lines driver.
 */
#ifndef PB_FIRMWARE_FIRMWARE_H
#define PB_FIRMWARE_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "hal/engine.h"
#include "hal/engine_memory.h"
#include "hal/fault.h"
#include "hal/host_window.h"
#include "hal/lines.h"
#include "hal/outer_memory.h"

/** Where the firmware writes the capability table, in bytes from the start of card memory: behind the boot block. */
#define PB_FIRMWARE_CAPABILITY_OFFSET 0x200u

/** What a board is made of. Lives as long as the firmware. */
struct pb_firmware_config {
	uint8_t *memory;       /**< card memory in the MCU's window */
	uint32_t memory_bytes; /**< its size, without the trace */
	uint32_t
		channels_offset; /**< where the channel directory and the channels' rings go, a multiple of 64 */
	uint32_t
		pool_offset; /**< where backing memory for segments starts, 4 KiB aligned; it runs to the end */
	/** For the trace, right behind it: struct pb_trace_ring, the schema, and records of 16 bytes. 0: there is none */
	uint32_t trace_bytes;
	const struct pb_lines *lines;
	const struct pb_engine_memory *engine_memory; /**< shared by all nodes */
	const struct pb_engine *engines;              /**< one a node */
	uint32_t node_count;                          /**< 1..PB_LIMIT_NODES */
	const uint32_t *clock; /**< a word that counts microseconds of the card's clock, modulo 2^32 */
	void *queues;          /**< private memory: PB_FIRMWARE_QUEUE_BYTES for each queue, 8-byte aligned */
	uint32_t queue_count;  /**< 1..PB_LIMIT_QUEUES */
	const char *board;     /**< its name, at most 16 characters */
	uint32_t crash_offset; /**< where struct pb_crash_record goes, in front of the pool; 0: nowhere */
	/** Where struct pb_telemetry goes, and a struct pb_node_telemetry for each node; in front of the pool, a multiple of 64. */
	uint32_t telemetry_offset;
	const struct pb_host_window *host; /**< host memory that the MCU and the engines reach; NULL: none */
	const struct pb_outer_memory *outer; /**< card memory outside of the MCU's window; NULL: none */
	/**
	 * A register of the MCU that counts up, modulo 2^32, from its start: the time of the trace's records, read once for
	 * each. NULL, with a rate of 0: they have the time of `clock`.
	 */
	const uint32_t *counter;
	uint32_t counter_hertz; /**< its rate, 1,000,000 to 100,000,000: at most a microsecond a step */
};

/** What a queue takes of private memory. */
#define PB_FIRMWARE_QUEUE_BYTES (sizeof(void *) == 4u ? 64u : 72u)

struct pb_firmware;

/** The one instance of this image. */
struct pb_firmware *pb_firmware_instance(void);
/** Bytes of an instance, for hosts that keep several. */
uint32_t pb_firmware_bytes(void);

/**
 * Boots: publishes the boot block and resets all engines. It reaches stage
 * RUNNING inside pass, when the last engine has answered.
 */
void pb_firmware_init(struct pb_firmware *firmware, const struct pb_firmware_config *config);

/**
 * One pass of the main loop: bounded work, then back.
 * @return true: there is more to do; false: nothing until a line is raised
 */
bool pb_firmware_pass(struct pb_firmware *firmware);

/** Sleeps until a line is raised, unless a host has already asked for something. */
void pb_firmware_idle(struct pb_firmware *firmware);

struct pb_fatal_record;
/**
 * What a fault driver calls: publishes the crash record, then the fatal record
 * and stage FATAL. If an assertion failed, that is the reason that both give.
 * Completes fault->record. Any context. The caller then stops.
 */
void pb_firmware_fatal(struct pb_fault *fault);
/** In place of pb_firmware_init: publishes the boot block with this fatal record, and nothing else. The caller then stops. */
void pb_firmware_refuse(struct pb_firmware *firmware, const struct pb_firmware_config *config,
			const struct pb_fatal_record *record);

#endif
