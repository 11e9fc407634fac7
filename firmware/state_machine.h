/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What all state machines of the core share. Each is a pure function of
 * (state, event), made of a table; docs/machines.md has their pictures. What a
 * table does not name is impossible: the caller asserts that it does not occur.
 */
#ifndef PB_FIRMWARE_STATE_MACHINE_H
#define PB_FIRMWARE_STATE_MACHINE_H

#include <stdint.h>

/** The result of an event: the next state, and what the firmware does now. */
struct pb_core_step {
	uint8_t state;  /**< the next state */
	uint8_t action; /**< 0: impossible */
};

#endif
