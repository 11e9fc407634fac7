/* SPDX-License-Identifier: MIT */
#include "qemu/card_boot.h"

#include <stdio.h>

#include "hal/shared.h"

void pb_card_boot_init(struct pb_card_boot *boot, struct pb_boot_block *block)
{
	*boot = (struct pb_card_boot){.block = block};
}

bool pb_card_boot_late(const struct pb_card_boot *boot, uint64_t now, uint32_t limit_us)
{
	return !boot->open && now - boot->started >= limit_us;
}

void pb_card_boot_hang(const struct pb_card_boot *boot, uint32_t late_us, uint32_t still_us, bool heard,
		       char text[PB_CARD_BOOT_FATAL_BYTES])
{
	const char *more = boot->open || heard ? "" : ", no byte on the lines";

	if (late_us != 0)
		snprintf(text, PB_CARD_BOOT_FATAL_BYTES, "not up within %.3g s%s", late_us / 1e6, more);
	else
		snprintf(text, PB_CARD_BOOT_FATAL_BYTES, "no heartbeat for %.3g s%s", still_us / 1e6, more);
}

void pb_card_boot_start(struct pb_card_boot *boot, uint64_t now)
{
	boot->started = now;
	boot->open = false;
	boot->former = pb_shared_read32(&boot->block->incarnation);
	boot->former_fatal = pb_shared_read32(&boot->block->boot_stage) == PB_BOOT_STAGE_FATAL;
	boot->running = false;
	pb_shared_write32(&boot->block->mcu_state, PB_MCU_RESTARTING);
}

enum pb_card_boot_news pb_card_boot_poll(struct pb_card_boot *boot)
{
	struct pb_boot_block *block = boot->block;
	bool published = pb_shared_read32(&block->incarnation) != boot->former;
	uint32_t stage;

	pb_shared_acquire();
	stage = pb_shared_read32(&block->boot_stage);
	/* Before it has published itself, what stands there may be the former firmware's. */
	boot->former_fatal = boot->former_fatal && !published && stage == PB_BOOT_STAGE_FATAL;
	if (stage == PB_BOOT_STAGE_FATAL && !boot->former_fatal)
		return PB_CARD_BOOT_FATAL;
	if (boot->running || !published)
		return PB_CARD_BOOT_NOTHING;
	boot->running = stage == PB_BOOT_STAGE_RUNNING;
	return boot->running ? PB_CARD_BOOT_RUNS : PB_CARD_BOOT_NOTHING;
}

void pb_card_boot_open(struct pb_card_boot *boot)
{
	boot->open = true;
	pb_shared_release();
	pb_shared_write32(&boot->block->mcu_state, PB_MCU_RUNNING);
}

void pb_card_boot_died(struct pb_card_boot *boot, bool again)
{
	struct pb_boot_block *block = boot->block;

	boot->running = false;
	pb_shared_write32(&block->dead_stage, pb_shared_read32(&block->boot_stage));
	pb_shared_write32(&block->dead_waypoint, pb_shared_read32(&block->waypoint));
	pb_shared_write32(&block->dead_heartbeat, pb_shared_read32(&block->heartbeat));
	pb_shared_write32(&block->mcu_deaths, ++boot->deaths);
	pb_shared_release();
	pb_shared_write32(&block->mcu_state, again ? PB_MCU_RESTARTING : PB_MCU_DEAD);
}

void pb_card_boot_end(struct pb_card_boot *boot)
{
	pb_shared_write32(&boot->block->mcu_state, PB_MCU_DEAD);
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

static const char *fatal_kind_name(uint32_t kind)
{
	switch (kind) {
		PB_FATAL_KINDS(NAME_CASE)
	default:
		return "?";
	}
}

void pb_card_boot_fatal(const struct pb_card_boot *boot, char text[PB_CARD_BOOT_FATAL_BYTES])
{
	const struct pb_fatal_record *fatal = &boot->block->fatal;

	pb_shared_acquire();
	snprintf(text, PB_CARD_BOOT_FATAL_BYTES, "%s, pc 0x%08x, status 0x%08x",
		 fatal_kind_name(pb_shared_read32(&fatal->kind)), pb_shared_read32(&fatal->pc),
		 pb_shared_read32(&fatal->status));
}
