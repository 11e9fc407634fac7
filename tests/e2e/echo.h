/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The echoing firmware: its state and its parts.
 */
#ifndef PB_TESTS_E2E_ECHO_H
#define PB_TESTS_E2E_ECHO_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/firmware.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"

#define ECHO_CHANNELS        PB_LIMIT_CHANNELS
#define ECHO_QUEUES          64u
#define ECHO_CONTROL_ENTRIES PB_LIMIT_CONTROL_ENTRIES
#define ECHO_KICK_ENTRIES    PB_LIMIT_KICK_ENTRIES
#define ECHO_EVENT_ENTRIES   PB_LIMIT_EVENT_ENTRIES

/** In card memory, one for each channel. */
struct echo_rings {
	struct pb_command commands[ECHO_CONTROL_ENTRIES];
	struct pb_reply replies[ECHO_CONTROL_ENTRIES];
	struct pb_event events[ECHO_EVENT_ENTRIES];
	uint32_t kicks[ECHO_KICK_ENTRIES];
};

struct echo_queue {
	struct pb_queue_page *page; /**< NULL: none */
	uint32_t mask;              /**< entries of the ring, less one */
	uint32_t completed;
	uint32_t sequence; /**< of its fence record */
};

struct echo_channel {
	struct pb_channel_entry *entry;
	struct echo_rings *rings;
	uint8_t *system;    /**< backing of segment 0 */
	uint32_t system_os; /**< OS address of segment 0, low word */
	uint32_t epoch;
	uint32_t control_get;
	uint32_t kick_get;
	bool open;
	bool done; /**< its host has something to read */
};

struct echo {
	const struct pb_firmware_config *config;
	struct pb_boot_block *boot;
	uint32_t heartbeat;
	uint32_t pool;        /**< next free byte of card memory */
	uint32_t queue_count; /**< created so far */
	struct echo_channel channels[ECHO_CHANNELS];
	struct echo_queue queues[ECHO_QUEUES];
};

/** One pass of its main loop. Pre: echo_boot(). */
void echo_pass(struct echo *echo);
/** Sleeps until a line is raised, unless a host has already asked for something. */
void echo_idle(const struct echo *echo);
/** Copies words out of card memory, or into it. Each word is accessed once. */
void echo_copy_in(void *to, const void *from, uint32_t bytes);
void echo_copy_out(void *to, const void *from, uint32_t bytes);

/** Publishes the boot block and an empty channel directory, and runs. */
void echo_boot(struct echo *echo, const struct pb_firmware_config *config);
/** @param os_low low word of the address of the queue's page. @return the queue's handle */
uint32_t echo_queue_create(struct echo *echo, const struct echo_channel *channel, uint32_t entries,
			   uint32_t os_low);
/** Reads the ring descriptor by descriptor, and writes the fence record for each. */
void echo_queue_serve(struct echo_queue *queue);

#endif
