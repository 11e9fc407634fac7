/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the kernels of the peers do to a relocation whose addend stands in the
 * command buffer: plain re-statements, for tests of lifting.
 */
#ifndef PB_TESTS_UNIT_PEER_KERNELS_H
#define PB_TESTS_UNIT_PEER_KERNELS_H

#include "patchbay/lift.h"

/** Where the buffer object lies. */
struct peer_target {
	uint64_t address;
	uint64_t size;
	uint32_t id;
};

struct peer_kernel {
	const char *name;
	enum pb_lift_kind kind;
	uint32_t width;         /**< bytes that it reads and writes */
	uint64_t address_limit; /**< addresses are below this */
	uint32_t address_align; /**< and multiples of this */
	/** Carries the relocation out at these bytes, as the peer does before it hands the buffer to the engine. */
	void (*relocate)(uint8_t *at, const struct peer_target *target);
};

#define PEER_KERNELS 6u
extern const struct peer_kernel peer_kernels[PEER_KERNELS];

uint32_t peer_get32(const uint8_t *from);
void peer_put32(uint8_t *to, uint32_t value);

#endif
