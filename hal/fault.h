/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a CPU's fault driver reports of a fault, for the records that hosts read.
 */
#ifndef PB_HAL_FAULT_H
#define PB_HAL_FAULT_H

#include <stdint.h>

#include "patchbay/abi/boot.h"
#include "patchbay/abi/crash.h"

/** One fault. A member that is not known is 0 or NULL. */
struct pb_fault {
	struct pb_fatal_record record; /**< but for `valid` and `waypoint` */
	uint32_t cpu;                  /**< enum pb_crash_cpu: the order of the registers */
	uint32_t more;                 /**< as in struct pb_crash_record */
	const uintptr_t *registers;    /**< as in struct pb_crash_record */
	uint32_t register_count;       /**< at most PB_CRASH_REGISTERS */
	uintptr_t stack;               /**< stack pointer when it happened */
	const uint32_t *stack_bottom;  /**< lowest word of the stack */
	const uint32_t *stack_top;     /**< first word above it */
	const uint32_t *build_id;      /**< five words, as in struct pb_image_header */
};

/** Publishes the records of a fault: pb_firmware_fatal(). Called once, by the fault handler; returns. */
typedef void (*pb_fault_report)(struct pb_fault *fault);

#endif
