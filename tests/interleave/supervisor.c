/* SPDX-License-Identifier: MIT */
/* The card's supervisor: restarts the MCU, and is the host of the admin channel. */
#include <string.h>

#include "hal/card_admin/admin.h"
#include "hal/lines.h"
#include "qemu/card_boot.h"
#include "tests/interleave/card_internal.h"

/** Time that a dead MCU stays so, and between two polls of the supervisor while it boots, in microseconds. */
#define DEAD_MICROSECONDS 50u
#define BOOT_MICROSECONDS 4u

static struct {
	struct pb_card_boot boot;
	struct pb_card_admin admin;
	uint32_t closing; /**< hosts whose channels are to be closed */
	bool interrupted;
	bool break_wanted;
	bool fatal_wanted;
	bool up; /**< hosts may attach */
	uint32_t deaths;
	uint32_t opened; /**< number of times that hosts were allowed to attach */
} supervisor;

uint32_t pb_weave_card_deaths(void)
{
	return supervisor.deaths;
}

bool pb_weave_card_died(uint32_t deaths)
{
	return supervisor.deaths != deaths || supervisor.break_wanted || supervisor.fatal_wanted;
}

bool pb_weave_card_is_up(void)
{
	return supervisor.up;
}

uint32_t pb_weave_card_opened(void)
{
	return supervisor.opened;
}

static void ring_admin(void *context)
{
	(void)context;
	pb_weave_order();
	pb_weave_ring(PB_LINE_CHANNEL(PB_CHANNEL_ADMIN));
}

static void closed(void *context, uint32_t channel)
{
	struct pb_weave_link *link = pb_weave_card_link(channel - 1u);

	(void)context;
	link->closed = true;
	if (link->waits)
		pb_weave_wake(PB_WEAVE_HOST(link->host));
}

static void refused(void *context, uint32_t code, uint32_t channel, uint32_t error)
{
	(void)context;
	pb_weave_fail("the firmware refuses the supervisor: command %u, channel %u, error %u", code, channel,
		      error);
}

static void start_mcu(void)
{
	pb_card_boot_start(&supervisor.boot, 0);
	pb_weave_mcu_start();
}

static void restart_mcu(void)
{
	supervisor.deaths++;
	supervisor.up = false;
	supervisor.break_wanted = false;
	supervisor.fatal_wanted = false;
	pb_weave_kill(PB_WEAVE_MCU);
	pb_weave_break_off(PB_WEAVE_MCU);
	pb_weave_see(pb_weave_seen()); /* an agent that is notified of the end sees what the MCU has stored */
	pb_card_admin_stop(&supervisor.admin);
	/* A restart closes the hosts' channels. */
	supervisor.closing = 0;
	for (uint32_t h = 0; h < PB_WEAVE_HOSTS; h++)
		pb_weave_card_link(h)->closed = true;
	pb_card_boot_died(&supervisor.boot, true);
	(void)pb_weave_wait(pb_weave_now() + (uint64_t)DEAD_MICROSECONDS * PB_WEAVE_MOMENTS);
	start_mcu();
}

/** Compares the supervisor's message with what the firmware has left. */
static void check_fatal(void)
{
	char text[PB_CARD_BOOT_FATAL_BYTES];

	pb_card_boot_fatal(&supervisor.boot, text);
	if (strcmp(text, PB_WEAVE_FATAL_TEXT) != 0)
		pb_weave_fail("the supervisor reads of a fatal record: %s", text);
}

static void poll_firmware(void)
{
	const enum pb_card_boot_news news = pb_card_boot_poll(&supervisor.boot);

	if (news == PB_CARD_BOOT_FATAL) {
		check_fatal();
		supervisor.break_wanted = true;
	}
	if (news == PB_CARD_BOOT_RUNS)
		pb_card_admin_start(&supervisor.admin);
}

static void close_channels(void)
{
	while (supervisor.closing != 0 && supervisor.up) {
		const uint32_t host = (uint32_t)__builtin_ctz(supervisor.closing);

		supervisor.closing &= ~(1u << host);
		pb_card_admin_close(&supervisor.admin, host + 1u);
	}
}

void pb_weave_supervisor_run(void)
{
	const struct pb_card_admin_config config = {
		.memory = (uint8_t *)pb_weave_card_memory(),
		.memory_bytes = PB_WEAVE_WORDS * 4u,
		.ring = ring_admin,
		.closed = closed,
		.refused = refused,
	};

	pb_card_admin_init(&supervisor.admin, &config);
	pb_card_boot_init(&supervisor.boot, (struct pb_boot_block *)(void *)pb_weave_card_memory());
	start_mcu();
	for (;;) {
		supervisor.interrupted = false;
		poll_firmware();
		if (supervisor.break_wanted)
			restart_mcu();
		pb_card_admin_poll(&supervisor.admin);
		if (supervisor.admin.state == PB_CARD_ADMIN_LOST)
			pb_weave_fail("the supervisor reads an invalid state");
		if (!supervisor.up && pb_card_admin_settled(&supervisor.admin)) {
			supervisor.up = true;
			supervisor.opened++;
			pb_card_boot_open(&supervisor.boot);
		}
		close_channels();
		if (supervisor.fatal_wanted)
			(void)pb_weave_wait(pb_weave_now() + 1u);
		else if (supervisor.admin.state == PB_CARD_ADMIN_OFF)
			(void)pb_weave_wait(pb_weave_now() + (uint64_t)BOOT_MICROSECONDS * PB_WEAVE_MOMENTS);
		else if (!supervisor.interrupted && !supervisor.break_wanted && supervisor.closing == 0)
			(void)pb_weave_wait(PB_WEAVE_NEVER);
	}
}

void pb_weave_card_close(uint32_t host)
{
	pb_weave_card_link(host)->closed = false;
	supervisor.closing |= 1u << host;
	pb_weave_wake(PB_WEAVE_CARD);
}

void pb_weave_card_break(bool fatal)
{
	if (!supervisor.up)
		return;
	if (fatal)
		supervisor.fatal_wanted = true;
	else
		supervisor.break_wanted = true;
	pb_weave_wake(PB_WEAVE_CARD);
}

void pb_weave_supervisor_reset(void)
{
	memset(&supervisor, 0, sizeof(supervisor));
}

void pb_weave_supervisor_interrupt(void)
{
	supervisor.interrupted = true;
	pb_weave_wake(PB_WEAVE_CARD);
}

bool pb_weave_supervisor_waits(void)
{
	return !pb_card_admin_settled(&supervisor.admin);
}

bool pb_weave_fatal_wanted(void)
{
	return supervisor.fatal_wanted;
}
