/* SPDX-License-Identifier: MIT */
/* Firmware whose heartbeat stands: dead if its MCU has been run meanwhile, and not if it has not. */
#define _GNU_SOURCE
#include <unistd.h>

#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "qemu/card_clock.h"
#include "tests/unit/patience.h"
#include "tests/unit/qemu/card_bench.h"
#include "tests/unit/unit.h"

#define DEAD_US 30000u
/* On a wall that advances by a whole turn of the card's clock whenever the card reads it. */
#define TURNS 100u

/* Its emulator answers on a control socket, and its heartbeat moves. */
static const char *const arguments[] = {"{memory}", "{lines}", "{image}", "{monitor}", NULL};
static const struct pb_machine machine = {
	.board = "fake", .program = FAKE_MCU, .package = "none", .arguments = arguments};

static const struct pb_boot_block *boot_block(const struct pb_link *link)
{
	return (const void *)(link->memory + PB_BOOT_OFFSET);
}

static struct pb_link *start(struct card_bench *bench, uint32_t restarts)
{
	card_bench_make(bench);
	bench->options.machine = &machine;
	bench->options.restarts = restarts;
	bench->options.dead_us = DEAD_US;
	assert_int_equal(card_bench_start(bench), 0);
	return card_bench_open(bench);
}

static uint32_t clock_of(const struct pb_link *link)
{
	return pb_shared_read32(&boot_block(link)->clock);
}

/* While a host is there, the clock runs by itself. */
static void await_clock(const struct pb_link *link, uint32_t microseconds)
{
	const uint32_t start = clock_of(link);

	unit_await(clock_of(link) - start >= microseconds);
}

/* The card has gone round its loop so often: each doorbell takes a turn, and the firmware answers it. */
static void let_card_turn(struct pb_link *link, uint32_t turns)
{
	const uint32_t *rings = &card_bench_mailbox(link)->doorbells[1];

	for (uint32_t i = 0; i < turns; i++) {
		const uint32_t before = pb_shared_read32(rings);

		link->ops->doorbell(link);
		card_bench_await(rings, before + 1u);
	}
}

static void test_dies(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	const struct pb_boot_block *block;
	uint32_t hung;

	(void)unused;
	link = start(&bench, 1);
	block = boot_block(link);
	for (uint32_t death = 1; death <= 2; death++) {
		await_clock(link, 3 * DEAD_US);
		assert_int_equal(block->mcu_deaths, death - 1);
		card_bench_quiet(link);
		/* From the last beat that the card has seen: an emulator that was not run has missed some already. */
		hung = pb_shared_read32(&block->heartbeat_clock);
		pb_shared_write32(&card_bench_mailbox(link)->hangs, 1);
		/* Hosts are woken to look for themselves. */
		assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK);
		assert_true(clock_of(link) - hung >= PB_HEARTBEAT_US);
		assert_true(card_bench_stood(link) >= PB_HEARTBEAT_US);
		card_bench_await(&block->mcu_deaths, death);
		assert_int_equal(block->dead_stage, PB_BOOT_STAGE_RUNNING);
		assert_int_equal(block->dead_waypoint, FAKE_WAYPOINT);
		assert_true(clock_of(link) - hung >= DEAD_US);
		card_bench_await(&block->mcu_state, death == 1 ? PB_MCU_RUNNING : PB_MCU_DEAD);
		assert_int_equal(block->incarnation, 2);
	}
	link->ops->close(link);
	assert_true(card_bench_said(&bench, "the MCU died (no heartbeat for 0.03 s) at stage RUNNING, "
					    "waypoint PATCH: restart 1 of 1"));
	card_bench_end(&bench);
}

/* An emulator that does not answer is treated as one that is not run: the clock stands, and no MCU is declared dead. */
static void card_time_stands_while_the_emulator_is_not_run(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;

	(void)unused;
	card_bench_wall_step_us = PB_CARD_CLOCK_TURN_US;
	link = start(&bench, 1);
	await_clock(link, 10000);
	pb_shared_write32(&card_bench_mailbox(link)->hold_monitor, 1);
	pb_shared_write32(&card_bench_mailbox(link)->hangs, 1);
	unit_await(card_bench_stood(link) >= PB_CARD_CLOCK_DOUBT_US);
	/* Far more turns than hosts and the supervisor would need to give the firmware up. */
	let_card_turn(link, TURNS);
	/* One proof may have been under way. */
	assert_in_range(card_bench_stood(link), PB_CARD_CLOCK_DOUBT_US,
			PB_CARD_CLOCK_DOUBT_US + PB_CARD_CLOCK_PROOF_US);
	assert_int_equal(boot_block(link)->mcu_deaths, 0);
	pb_shared_write32(&card_bench_mailbox(link)->hangs, 0);
	await_clock(link, 3 * DEAD_US);
	pb_shared_write32(&card_bench_mailbox(link)->hold_monitor, 0);
	await_clock(link, 3 * DEAD_US);
	assert_int_equal(boot_block(link)->mcu_deaths, 0);
	link->ops->close(link);
	card_bench_end(&bench);
	card_bench_wall_step_us = 0;
}

/* With no host there the card rests most of the time, and still finds dead firmware. */
static void dead_firmware_is_found_without_a_host(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;

	(void)unused;
	link = start(&bench, 1);
	pb_shared_write32(&card_bench_mailbox(link)->hangs, 1);
	link->ops->close(link);
	assert_true(card_bench_said(&bench, "restart 1 of 1"));
	card_bench_end(&bench);
}

/* An MCU that never boots, and sends nothing. */
static void a_boot_that_does_not_end_is_reported(void **unused)
{
	static const char *const forever[] = {"1000000", NULL};
	struct pb_machine sleeps;
	struct card_bench bench;

	(void)unused;
	card_bench_make(&bench);
	sleeps = *bench.options.machine;
	sleeps.program = "sleep";
	sleeps.arguments = forever;
	bench.options.machine = &sleeps;
	bench.options.boot_us = 50000;
	assert_int_equal(card_bench_start(&bench), -1);
	assert_true(card_bench_said(&bench,
				    "card: the MCU ended before the firmware ran: not up within 0.05 s, no "
				    "byte on the lines, at stage NONE, waypoint NONE\n"));
	unlink(bench.log);
	assert_int_equal(rmdir(bench.directory), 0);
}

UNIT_SUITE(test_card_hang)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dies),
		cmocka_unit_test(card_time_stands_while_the_emulator_is_not_run),
		cmocka_unit_test(dead_firmware_is_found_without_a_host),
		cmocka_unit_test(a_boot_that_does_not_end_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
