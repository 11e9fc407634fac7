/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What is left behind by firmware that dies: notes of what it did last, and the
 * crash record. The owner of struct pb_core_notes; main loop only, but for
 * pb_firmware_fatal().
 */
#ifndef PB_FIRMWARE_OBSERVE_CRASH_H
#define PB_FIRMWARE_OBSERVE_CRASH_H

#include <stdint.h>

#include "patchbay/abi/crash.h"

struct pb_firmware;

/** What goes into a crash record: the first words of struct pb_crash_note. */
struct pb_core_note {
	uint32_t heartbeat; /**< when it was noted */
	uint32_t what;      /**< subject << 16 | enum pb_crash_note_kind */
	uint32_t value;     /**< its meaning is the kind's */
};

/** The state of this module. */
struct pb_core_notes {
	uint32_t count;                         /**< notes since boot */
	struct pb_core_note at[PB_CRASH_NOTES]; /**< the last ones, by number modulo their count */
};

/** Names the instance whose records a crash publishes; there is a boot block from here on. */
void pb_core_crash_of(const struct pb_firmware *firmware);
/** Notes what a crash record is to tell. Not where each submission passes: it takes about 15 instructions. */
void pb_core_note(struct pb_firmware *firmware, enum pb_crash_note_kind kind, uint32_t subject,
		  uint32_t value);

#endif
