/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a host can read of a card without a command: its boot block and the
 * record of its last crash. Works while the firmware runs and after it died.
 */
#ifndef PB_HOST_CARD_H
#define PB_HOST_CARD_H

#include <stdint.h>

#include "patchbay/abi/boot.h"
#include "patchbay/abi/crash.h"
#include "patchbay/abi/errors.h"
#include "patchbay/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Size of pb_card_info.capabilities: keys from this number on are not kept. */
#define PB_CAPABILITY_KEYS 64u

/** A copy of a card's boot block. Offsets and counts in it have been range-checked. */
struct pb_card_info {
	uint32_t abi_version;              /**< PB_ABI_VERSION of the firmware */
	uint32_t memory_bytes;             /**< card memory that the firmware uses, in bytes */
	uint32_t channel_directory_offset; /**< from the start of card memory, in bytes */
	uint32_t channel_count;            /**< entries of the channel directory, not 0 */
	char build[33];                    /**< build text: zero-terminated, printable */
	/** By enum pb_capability_key; 0: the card has no such key. */
	uint32_t capabilities[PB_CAPABILITY_KEYS];
	uint32_t boot_stage;          /**< enum pb_boot_stage */
	uint32_t waypoint;            /**< enum pb_waypoint */
	uint32_t heartbeat;           /**< passes of the main loop, modulo 2^32 */
	uint32_t incarnation;         /**< number of this boot, from 1 */
	uint32_t mcu_state;           /**< enum pb_mcu_state, as the supervisor wrote it */
	uint32_t mcu_deaths;          /**< times that the MCU died since the card started */
	uint32_t dead_stage;          /**< boot_stage at the last death */
	uint32_t dead_waypoint;       /**< waypoint at the last death */
	struct pb_fatal_record fatal; /**< record of a fatal error; all 0: there is none */
};

/**
 * Copies the boot block and checks its offsets and counts. Needs no attached channel. Never blocks.
 * @param link open, or with only memory and memory_bytes set (saved card memory)
 * @param info out: the copy; all 0 after PB_ERROR_NO_CARD
 * @retval PB_ERROR_NO_CARD no firmware has ever booted in this memory
 * @retval PB_ERROR_BAD_VERSION the firmware has another major version; only abi_version is filled in
 * @retval PB_ERROR_PROTOCOL an offset or count in the boot block is out of range
 */
enum pb_error pb_card_read(const struct pb_link *link, struct pb_card_info *info);

/**
 * Copies the record of the last crash. The record stays until the next crash, also across restarts. Its counts and its
 * stack range are checked; registers and addresses are not. Never blocks.
 * @param link as for pb_card_read()
 * @param record out: magic is PB_CRASH_MAGIC if there is a record; all 0 if no firmware crashed, or if the board keeps
 *   no crash record
 * @retval PB_ERROR_NO_CARD no firmware has ever booted in this memory
 * @retval PB_ERROR_BAD_VERSION the firmware has another major version
 * @retval PB_ERROR_PROTOCOL the record lies out of range, is inconsistent, or changes during every attempt to read it
 */
enum pb_error pb_crash_read(const struct pb_link *link, struct pb_crash_record *record);

/**
 * Returns the largest piece of the pool that a channel can have while no other channel has any, in bytes: what is kept
 * for each channel lies apart.
 */
uint32_t pb_card_pool_most(const struct pb_card_info *card);

#ifdef __cplusplus
}
#endif

#endif
