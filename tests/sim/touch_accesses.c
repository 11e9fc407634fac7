/* SPDX-License-Identifier: MIT */
/*
 * Injects events inside a pass also at each access of the firmware to card memory. The firmware is compiled
 * with tests/unit/stepped.h, whose accesses call these functions.
 */
#include "tests/sim/world.h"
#include "tests/unit/stepped.h"
#undef pb_shared_read32
#undef pb_shared_write32
#undef pb_shared_read8
#undef pb_shared_write8

const struct pb_world_touches pb_world_touches = {120, 12000, "build/host/tests/sim_stepped"};

static void step(void)
{
	pb_world_access();
	if (pb_world_running != NULL)
		pb_world_touch(pb_world_running);
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	step();
	return pb_shared_read32(address);
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	step();
	pb_shared_write32(address, value);
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	step();
	return pb_shared_read8(address);
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	step();
	pb_shared_write8(address, value);
}
