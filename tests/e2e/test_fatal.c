/* SPDX-License-Identifier: MIT */
/*
 * The firmware takes a CPU fault: its hosts are told at once, the record says
 * where, and the card starts it again as often as it may.
 */
#define _GNU_SOURCE
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"

/* How soon a waiting host must know, from the submission to its return. */
#define NOTICE_US 1000000u
/* Far longer than it takes to say that nobody starts the firmware again. */
#define ATTACH_US 30000000u

/* Writes an image whose pb_core_admit starts with an undefined instruction. @return that address */
static uint32_t write_broken_image(const char *path)
{
	return e2e_image_write(path, "pb_core_admit", E2E_IMAGE_FAULTS);
}

/* @return where its firmware will fault */
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

/* A submission is all it takes. */
static void make_it_fault(struct e2e_host *host)
{
	struct pb_dma *dma = &host->work[0];
	const uint64_t start = e2e_now();
	struct pb_fence fence;

	e2e_host_fill(host, 0, 1);
	assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(dma->queue, dma->timeline, E2E_PATIENCE_US, &fence),
			 PB_ERROR_FIRMWARE_DEAD);
	assert_true(e2e_now() - start < NOTICE_US);
}

/* Waits for what the card and an incarnation make of a death by then. */
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

/* Nobody starts it again: whoever comes is told at once, and finds out why. */
static void check_dead_for_good(const char *socket, uint32_t address)
{
	const uint64_t start = e2e_now();
	static struct e2e_output output;
	struct pb_channel channel;
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&channel, link, ATTACH_US), PB_ERROR_FIRMWARE_DEAD);
	assert_true(e2e_now() - start < ATTACH_US / 2);
	check_record(&channel.card.fatal, address);
	link->ops->close(link);
	e2e_patchbay(&output, "info", "--card", socket);
	assert_non_null(strstr(output.out, "boot stage     FATAL\n"));
	assert_non_null(strstr(output.out, "MCU            dead, died "));
	assert_non_null(strstr(output.out, "waypoint ADMIT\n"));
}

static void test_record(void **state)
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

static void test_restart(void **state)
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
	/* Its successor serves, until it gets to the same place. */
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
		e2e_test(test_record),
		e2e_test(test_restart),
	};

	return e2e_run_tests(tests);
}
