/* SPDX-License-Identifier: MIT */
#include "host/tool/card_failure.h"

#include <inttypes.h>
#include <stdio.h>

static const char *fatal_kind(uint32_t kind)
{
	if (kind == PB_FATAL_ASSERT)
		return "failed assertion";
	if (kind == PB_FATAL_BAD_IMAGE)
		return "damaged image";
	if (kind == PB_FATAL_UNPROTECTED)
		return "too few regions for memory protection";
	if (kind == PB_FATAL_CACHED_MEMORY)
		return "card memory may be cached";
	return kind == PB_FATAL_CPU_FAULT ? "CPU fault" : "unknown reason";
}

/* Describes a death. The firmware's own record has precedence: the supervisor only knows that the MCU stopped. */
static void describe_death(const struct pb_card_info *now, char *text, size_t bytes)
{
	if (now->boot_stage == PB_BOOT_STAGE_FATAL && now->fatal.valid != 0)
		(void)snprintf(text, bytes,
			       "it died at stage FATAL, waypoint %s: %s, pc 0x%08" PRIx32 ", lr 0x%08" PRIx32
			       ", status 0x%08" PRIx32 ", address 0x%08" PRIx32,
			       pb_waypoint_name(now->fatal.waypoint), fatal_kind(now->fatal.kind),
			       now->fatal.pc, now->fatal.lr, now->fatal.status, now->fatal.address);
	else if (now->mcu_deaths != 0)
		(void)snprintf(text, bytes, "it died at stage %s, waypoint %s",
			       pb_boot_stage_name(now->dead_stage), pb_waypoint_name(now->dead_waypoint));
	else
		(void)snprintf(text, bytes, "it is at stage %s, waypoint %s now",
			       pb_boot_stage_name(now->boot_stage), pb_waypoint_name(now->waypoint));
}

void pb_card_failure(const struct pb_channel *channel, enum pb_error error, char *text)
{
	struct pb_card_info now;
	char death[PB_CARD_FAILURE_BYTES / 2] = "";

	if (error == PB_ERROR_FIRMWARE_DEAD) {
		(void)pb_channel_check(channel, &now);
		describe_death(&now, death, sizeof(death));
	}
	(void)snprintf(text, PB_CARD_FAILURE_BYTES, "%s: %s%s%s", pb_error_name((uint32_t)error),
		       pb_error_meaning((uint32_t)error), death[0] != '\0' ? "; " : "", death);
}

void pb_card_full(const struct pb_channel *channel, uint32_t bytes, char *text)
{
	(void)snprintf(text, PB_CARD_FAILURE_BYTES,
		       "%s: %" PRIu32 " contiguous bytes are needed, and other clients hold too much of "
		       "the card's %s = %" PRIu32 "; try again when they have ended",
		       pb_error_name(PB_ERROR_NO_SPACE), bytes, pb_capability_name(PB_CAPABILITY_POOL_BYTES),
		       channel->card.capabilities[PB_CAPABILITY_POOL_BYTES]);
}

const char *pb_card_mcu_state(uint32_t state)
{
	if (state == PB_MCU_DEAD)
		return "dead";
	if (state == PB_MCU_RESTARTING)
		return "restarting";
	return state == PB_MCU_RUNNING ? "running" : "not supervised";
}
