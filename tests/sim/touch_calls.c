/* SPDX-License-Identifier: MIT */
/*
 * Injects events inside a pass where the firmware calls its IRQ lines and engines: world.c calls
 * pb_world_touch. Accesses to card memory are counted only, for what a pass costs.
 */
#include "tests/sim/world.h"
#include "tests/unit/stepped.h"
#undef pb_shared_read32
#undef pb_shared_write32
#undef pb_shared_read8
#undef pb_shared_write8

/** The program that this is part of, for messages. */
#ifndef PB_SIM_PROGRAM
#define PB_SIM_PROGRAM "scripts/patchbay sim"
#endif

const struct pb_world_touches pb_world_touches = {8, 96, PB_SIM_PROGRAM};

uint32_t pb_stepped_read32(const uint32_t *address)
{
	pb_world_access();
	return pb_shared_read32(address);
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	pb_world_access();
	pb_shared_write32(address, value);
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	pb_world_access();
	return pb_shared_read8(address);
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	pb_world_access();
	pb_shared_write8(address, value);
}
