/* SPDX-License-Identifier: MIT */
/*
 * The firmware takes a CPU fault: its hosts are notified at once, the record names the place, and the card
 * restarts it up to its limit.
 */
#define _GNU_SOURCE
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"

/*
 * Writes an image whose pb_core_admit starts with an undefined instruction. @return the address of the
 * instruction
 */
static uint32_t write_broken_image(const char *path)
{
	return e2e_image_write(path, "pb_core_admit", E2E_IMAGE_FAULTS);
}

/* @return the address at which the firmware will fault */
static uint32_t start_broken_card(struct e2e_card *card, uint32_t restarts)
{
	char image[E2E_PATH_BYTES];
	uint32_t address;

	e2e_path(image, "broken.elf");
	address = write_broken_image(image);
	e2e_card_start_image(card, image, restarts);
	return address;
}

/* ---- its hosts ---- */

/* A host whose one submission makes the firmware fault. Its wait ends with the firmware, and not with its timeout. */
static void make_it_fault(struct e2e_host *host)
{
	struct pb_dma *dma = &host->builders[0];
	struct pb_fence fence;

	e2e_host_fill(host, 0, 1);
	assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(dma->queue, dma->timeline, E2E_HOUR_US, &fence),
			 PB_ERROR_FIRMWARE_DEAD);
}

/* Waits until the card has handled the death and an incarnation reports it. */
static void await_state(const struct e2e_host *host, uint32_t deaths, uint32_t incarnation,
			enum pb_mcu_state state, struct pb_card_info *now)
{
	const uint64_t start = e2e_now();

	do {
		assert_true(e2e_patience(start));
		assert_int_equal(pb_channel_check(&host->channel, now), PB_ERROR_FIRMWARE_DEAD);
	} while (now->incarnation != incarnation || now->mcu_state != (uint32_t)state);
	assert_int_equal(now->mcu_deaths, deaths);
	assert_int_equal(now->dead_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(now->dead_waypoint, PB_WAYPOINT_ADMIT);
}

static void check_record(const struct pb_fatal_record *fatal, uint32_t address)
{
	assert_int_equal(fatal->valid, 1);
	assert_int_equal(fatal->kind, PB_FATAL_CPU_FAULT);
	assert_int_equal(fatal->pc, address);
	assert_int_equal(fatal->status, e2e_image_fault_status());
	assert_int_equal(fatal->waypoint, PB_WAYPOINT_ADMIT);
}

/* No restart follows: a new host is refused, does not wait for its timeout, and can read the reason. */
static void check_dead_for_good(const char *socket, uint32_t address)
{
	static struct e2e_output output;
	struct pb_channel channel;
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&channel, link, E2E_HOUR_US), PB_ERROR_FIRMWARE_DEAD);
	check_record(&channel.card.fatal, address);
	link->ops->close(link);
	e2e_patchbay(&output, "info", "--card", socket);
	assert_non_null(strstr(output.out, "boot stage     FATAL\n"));
	assert_non_null(strstr(output.out, "MCU            dead, died "));
	assert_non_null(strstr(output.out, "waypoint ADMIT\n"));
}

static void a_fault_is_recorded_and_hosts_are_notified(void **state)
{
	struct pb_card_info now;
	struct e2e_card card;
	struct e2e_host host;
	uint32_t address;

	(void)state;
	address = start_broken_card(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	make_it_fault(&host);
	await_state(&host, 1, 1, PB_MCU_DEAD, &now);
	check_record(&now.fatal, address);
	check_dead_for_good(card.socket, address);
	host.link->ops->close(host.link);
	e2e_card_stop(&card);
}

static void the_card_restarts_the_firmware_up_to_its_limit(void **state)
{
	struct pb_card_info now;
	struct e2e_card card;
	struct e2e_host host;
	uint32_t address;

	(void)state;
	address = start_broken_card(&card, 1);
	assert_true(e2e_host_open(&host, card.socket));
	make_it_fault(&host);
	await_state(&host, 1, 2, PB_MCU_RUNNING, &now);
	assert_int_equal(now.fatal.valid, 0);
	host.link->ops->close(host.link);
	/* The next incarnation serves, until it reaches the fault again. */
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(host.channel.card.incarnation, 2);
	make_it_fault(&host);
	await_state(&host, 2, 2, PB_MCU_DEAD, &now);
	check_dead_for_good(card.socket, address);
	host.link->ops->close(host.link);
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_fault_is_recorded_and_hosts_are_notified),
		e2e_test(the_card_restarts_the_firmware_up_to_its_limit),
	};

	return e2e_run_tests(tests);
}
