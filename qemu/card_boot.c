/* SPDX-License-Identifier: MIT */
#include "qemu/card_boot.h"

#include "hal/shared.h"

void pb_card_boot_init(struct pb_card_boot *boot, struct pb_boot_block *block)
{
	*boot = (struct pb_card_boot){.block = block};
}

void pb_card_boot_start(struct pb_card_boot *boot)
{
	boot->former = pb_shared_read32(&boot->block->incarnation);
	boot->published = false;
	boot->running = false;
}

bool pb_card_boot_poll(struct pb_card_boot *boot)
{
	struct pb_boot_block *block = boot->block;

	/* What stands there before is the former firmware's, and says RUNNING. */
	if (boot->running || pb_shared_read32(&block->incarnation) == boot->former)
		return false;
	pb_shared_acquire();
	if (!boot->published)
		pb_shared_write32(&block->mcu_state, PB_MCU_RUNNING);
	boot->published = true;
	boot->running = pb_shared_read32(&block->boot_stage) == PB_BOOT_STAGE_RUNNING;
	return boot->running;
}

void pb_card_boot_died(struct pb_card_boot *boot)
{
	struct pb_boot_block *block = boot->block;

	boot->running = false;
	pb_shared_write32(&block->dead_stage, pb_shared_read32(&block->boot_stage));
	pb_shared_write32(&block->dead_waypoint, pb_shared_read32(&block->waypoint));
	pb_shared_write32(&block->dead_heartbeat, pb_shared_read32(&block->heartbeat));
	pb_shared_write32(&block->mcu_deaths, ++boot->deaths);
	pb_shared_release();
	pb_shared_write32(&block->mcu_state, PB_MCU_DEAD);
}

#define NAME_CASE(name, number, meaning)                                                                     \
	case (number):                                                                                       \
		return #name;

const char *pb_card_boot_dead_stage(const struct pb_card_boot *boot)
{
	switch (pb_shared_read32(&boot->block->dead_stage)) {
		PB_BOOT_STAGES(NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_card_boot_dead_waypoint(const struct pb_card_boot *boot)
{
	switch (pb_shared_read32(&boot->block->dead_waypoint)) {
		PB_WAYPOINTS(NAME_CASE)
	default:
		return "?";
	}
}
