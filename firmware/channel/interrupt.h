/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Host interrupts of channels, and their moderation: completions may be held
 * back until enough of them have come, or until some time has passed. The owner
 * of struct pb_core_moderation and of the mask of channels that are held back;
 * main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_INTERRUPT_H
#define PB_FIRMWARE_CHANNEL_INTERRUPT_H

#include <stdint.h>

struct pb_firmware;

/** A member of a channel's record: what MODERATE set. */
struct pb_core_moderation {
	uint32_t count; /**< completions to an interrupt; 0 and 1: every completion raises one */
	uint32_t
		left; /**< completions until an interrupt is raised for those that are held back; 0: none is */
	uint32_t microseconds; /**< after which an interrupt is raised all the same */
	uint32_t held_since;   /**< card clock at the first of them, in microseconds */
};

/** Raises a channel's host interrupt. What was stored before is visible to the host. */
void pb_core_interrupt_raise(const struct pb_firmware *firmware, uint32_t channel);
/**
 * A submission of the channel has completed: raises its host interrupt, now or as moderation has it. While the
 * firmware's `moderations` is 0, the effect is that of pb_core_interrupt_raise().
 */
void pb_core_interrupt_complete(struct pb_firmware *firmware, uint32_t channel);
/** Raises the interrupts that were held back long enough. Called at each tick. */
void pb_core_interrupt_tick(struct pb_firmware *firmware);
/** Sets how a channel's completions are moderated. @param count completions to an interrupt @param microseconds at most */
void pb_core_interrupt_moderate(struct pb_firmware *firmware, uint32_t channel, uint32_t count,
				uint32_t microseconds);
/** A channel is attached: nothing is moderated or held back. */
void pb_core_interrupt_open(struct pb_firmware *firmware, uint32_t channel);

#endif
