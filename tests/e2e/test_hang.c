/* SPDX-License-Identifier: MIT */
/*
 * Firmware that hangs: its hosts are notified, it is restarted, and they run again. Firmware whose emulator
 * gets no processor time does not count as hung.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"

/* Short, to save time. The card's clock decides when it is over. */
#define DEAD_US 100000u
/* Turns of the card without the emulator. A turn adds more than a millisecond to a clock that goes on: twice the timeout. */
#define FROZEN_TURNS 200u

/* @param function where the firmware hangs; NULL: nowhere. The next incarnation is sound. */
static void start_card(struct e2e_card *card, const char *function)
{
	struct pb_card_options options = e2e_card_options();
	char image[E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *sound = e2e_read_file(e2e_image(), &bytes);

	e2e_path(image, "hangs.elf");
	e2e_path(card->socket, "card");
	if (function != NULL)
		e2e_image_write(image, function, E2E_IMAGE_LOOPS);
	else
		e2e_write_file(image, sound, bytes);
	options.image = image;
	options.socket = card->socket;
	options.restarts = 1;
	options.dead_us = DEAD_US;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
	/* The emulator has read the file, and reads it again at a restart. */
	e2e_write_file(image, sound, bytes);
	free(sound);
}

static const struct pb_boot_block *boot_block(const struct e2e_host *host)
{
	return (const void *)(host->link->memory + PB_BOOT_OFFSET);
}

static void check_restarted(struct e2e_host *host)
{
	struct pb_link *link = host->link;

	*host = (struct e2e_host){.link = link};
	assert_int_equal(pb_channel_attach(&host->channel, link, E2E_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(host->channel.card.incarnation, 2);
	assert_int_equal(host->channel.card.mcu_deaths, 1);
	assert_int_equal(host->channel.card.dead_stage, PB_BOOT_STAGE_RUNNING);
	assert_int_equal(host->channel.card.dead_waypoint, PB_WAYPOINT_ADMIT);
	assert_true(e2e_host_furnish(host, E2E_SYSTEM_BYTES));
	assert_true(e2e_host_round(host, 0x77000000u + link->channel));
}

static void hung_firmware_is_restarted(void **state)
{
	struct e2e_host host, other;
	struct pb_fence fence;
	struct e2e_card card;

	(void)state;
	start_card(&card, "pb_core_admit");
	assert_true(e2e_host_open(&host, card.socket) && e2e_host_open(&other, card.socket));
	e2e_host_fill(&host, 0, 1);
	assert_int_equal(pb_dma_submit(&host.builders[0], 1), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&host.builders[0], E2E_PATIENCE_US, &fence), PB_ERROR_FIRMWARE_DEAD);
	check_restarted(&host);
	assert_int_equal(pb_channel_check(&other.channel, NULL), PB_ERROR_FIRMWARE_DEAD);
	check_restarted(&other);
	assert_true(e2e_host_close(&host) && e2e_host_close(&other));
	e2e_card_stop(&card);
}

/* The clock waits for the emulator, and so does everything that uses the clock. */
static void a_stopped_emulator_is_no_hang(void **state)
{
	struct e2e_host host;
	struct e2e_card card;
	uint32_t clock;
	pid_t mcu;

	(void)state;
	start_card(&card, NULL);
	assert_true(e2e_host_open(&host, card.socket));
	mcu = e2e_card_mcu(&card);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(kill(mcu, SIGSTOP), 0);
		e2e_await_state(mcu, 'T');
		clock = pb_shared_read32(&boot_block(&host)->clock);
		e2e_await_sleeps(card.pid, FROZEN_TURNS);
		/* It goes on until it doubts the emulator, and a liveness check may have been in progress. */
		assert_in_range(pb_shared_read32(&boot_block(&host)->clock) - clock, 0, 10000);
		assert_int_equal(kill(mcu, SIGCONT), 0);
		assert_true(e2e_host_round(&host, 0x78000000u + i));
	}
	assert_int_equal(boot_block(&host)->mcu_deaths, 0);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(hung_firmware_is_restarted),
		e2e_test(a_stopped_emulator_is_no_hang),
	};

	return e2e_run_tests(tests);
}
