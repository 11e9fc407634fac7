/* SPDX-License-Identifier: MIT */
/* The MCU's life and death as hosts see it, and how a card starts and ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_protocol.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "qemu/card_clock.h"
#include "tests/unit/patience.h"
#include "tests/unit/qemu/card_bench.h"
#include "tests/unit/qemu/raw_host.h"
#include "tests/unit/unit.h"

static const struct pb_boot_block *boot_block(const struct pb_link *link)
{
	return (const void *)(link->memory + PB_BOOT_OFFSET);
}

static void kill_mcu(const struct pb_link *link)
{
	assert_int_equal(kill((pid_t)pb_shared_read32(&card_bench_mailbox(link)->pid), SIGKILL), 0);
}

static void test_death(void **unused)
{
	struct card_bench bench;
	struct pb_link *links[2];
	struct pb_link *late;

	(void)unused;
	card_bench_make(&bench);
	bench.options.restarts = 0;
	assert_int_equal(card_bench_start(&bench), 0);
	for (uint32_t i = 0; i < 2; i++)
		links[i] = card_bench_open(&bench);
	for (uint32_t i = 0; i < 2; i++) {
		card_bench_quiet(links[i]);
		assert_int_equal(boot_block(links[i])->mcu_state, PB_MCU_RUNNING);
		assert_int_equal(boot_block(links[i])->mcu_deaths, 0);
	}
	kill_mcu(links[0]);
	for (uint32_t i = 0; i < 2; i++) {
		const struct pb_boot_block *block = boot_block(links[i]);

		card_bench_await_woken(links[i], &block->mcu_state, PB_MCU_DEAD);
		assert_int_equal(block->mcu_deaths, 1);
		assert_int_equal(block->dead_stage, PB_BOOT_STAGE_RUNNING);
		assert_int_equal(block->dead_waypoint, FAKE_WAYPOINT);
		assert_int_equal(block->dead_heartbeat, FAKE_HEARTBEAT);
		assert_int_equal(block->incarnation, 1);
	}
	/* The card is still there for those who want to look, as often as they like. */
	links[0]->ops->doorbell(links[0]);
	links[0]->ops->close(links[0]);
	for (uint32_t i = 0; i < 20; i++) {
		late = card_bench_open(&bench);
		assert_int_equal(boot_block(late)->mcu_state, PB_MCU_DEAD);
		late->ops->close(late);
	}
	links[1]->ops->close(links[1]);
	assert_true(
		card_bench_said(&bench, "(signal 9) at stage RUNNING, waypoint PATCH: it is not started"));
	card_bench_end(&bench);
}

static void test_restart(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	const struct pb_boot_block *block;

	(void)unused;
	card_bench_make(&bench);
	bench.options.restarts = 2;
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	block = boot_block(link);
	for (uint32_t deaths = 1; deaths <= 2; deaths++) {
		uint32_t rings = pb_shared_read32(&card_bench_mailbox(link)->doorbells[1]);

		kill_mcu(link);
		card_bench_await(&block->incarnation, deaths + 1);
		card_bench_await(&block->mcu_state, PB_MCU_RUNNING);
		assert_int_equal(block->mcu_deaths, deaths);
		link->ops->doorbell(link);
		card_bench_await(&card_bench_mailbox(link)->doorbells[1], rings + 1);
	}
	kill_mcu(link);
	card_bench_await(&block->mcu_deaths, 3);
	card_bench_await(&block->mcu_state, PB_MCU_DEAD);
	assert_int_equal(block->incarnation, 3);
	link->ops->close(link);
	assert_true(card_bench_said(&bench, "restart 2 of 2"));
	card_bench_end(&bench);
}

/* ---- firmware that stops by itself ---- */

static void fail_times(const struct pb_link *link, uint32_t times)
{
	pb_shared_write32(&card_bench_mailbox(link)->fails, times);
}

static void check_fatal_death(const struct pb_boot_block *block, uint32_t deaths)
{
	assert_int_equal(block->mcu_deaths, deaths);
	assert_int_equal(block->dead_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(block->dead_waypoint, FAKE_WAYPOINT);
}

/* Its MCU runs on and does nothing: only the boot stage tells. */
static void a_fatal_boot_stage_restarts_the_mcu(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	const struct pb_boot_block *block;
	pid_t mcu;

	(void)unused;
	card_bench_make(&bench);
	bench.options.restarts = 0;
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	block = boot_block(link);
	mcu = (pid_t)pb_shared_read32(&card_bench_mailbox(link)->pid);
	card_bench_quiet(link);
	fail_times(link, 1);
	card_bench_await_woken(link, &block->mcu_state, PB_MCU_DEAD);
	check_fatal_death(block, 1);
	assert_int_equal(kill(mcu, 0), -1);
	/* For those who come to look. */
	assert_int_equal(block->fatal.valid, 1);
	assert_int_equal(block->fatal.pc, FAKE_FATAL_PC);
	assert_int_equal(block->incarnation, 1);
	link->ops->close(link);
	assert_true(card_bench_said(&bench,
				    "card: the MCU died (CPU_FAULT, pc 0x00001234, status 0x00010000) at "
				    "stage FATAL, waypoint PATCH: it is not started again\n"));
	card_bench_end(&bench);
}

/* Once while it runs; the rest, if any, as it boots again. */
static void test_fatal_and_restart(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	const struct pb_boot_block *block;

	(void)unused;
	card_bench_make(&bench);
	bench.options.restarts = 4;
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	block = boot_block(link);
	for (uint32_t times = 1; times <= 3; times += 2) {
		uint32_t deaths = times == 1 ? 1 : 4;
		uint32_t rings;

		fail_times(link, times);
		card_bench_await(&block->mcu_deaths, deaths);
		card_bench_await(&block->mcu_state, PB_MCU_RUNNING);
		card_bench_await(&block->boot_stage, PB_BOOT_STAGE_RUNNING);
		assert_int_equal(block->incarnation, deaths + 1);
		assert_int_equal(block->fatal.valid, 0);
		check_fatal_death(block, deaths);
		rings = pb_shared_read32(&card_bench_mailbox(link)->doorbells[1]);
		link->ops->doorbell(link);
		card_bench_await(&card_bench_mailbox(link)->doorbells[1], rings + 1);
	}
	fail_times(link, 1);
	card_bench_await(&block->mcu_state, PB_MCU_DEAD);
	check_fatal_death(block, 5);
	assert_int_equal(block->fatal.valid, 1);
	link->ops->close(link);
	assert_true(card_bench_said(&bench, "stage FATAL, waypoint PATCH: restart 4 of 4"));
	card_bench_end(&bench);
}

/*
 * The card's clock, on which nothing beats here, stops at the doubt and starts again with each MCU: until it has stopped
 * again the card has polled the new one, every PB_CARD_CLOCK_TURN_US at most.
 */
static void let_card_poll(const struct pb_link *link, uint32_t clock_before)
{
	card_bench_await(&boot_block(link)->clock, clock_before + PB_CARD_CLOCK_DOUBT_US);
}

/* While a new MCU has yet to publish itself, what the dead one left there is not taken for its own. */
static void words_of_the_dead_mcu_are_not_those_of_the_new_one(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	const struct pb_boot_block *block;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	block = boot_block(link);
	for (uint32_t deaths = 1; deaths <= 2; deaths++) {
		bool fatal = deaths == 2;
		uint32_t before;

		unit_await(card_bench_stood(link) == PB_CARD_CLOCK_DOUBT_US);
		before = pb_shared_read32(&block->clock);
		pb_shared_write32(&card_bench_mailbox(link)->hold_boot, 1);
		card_bench_quiet(link);
		if (fatal)
			fail_times(link, 1);
		else
			kill_mcu(link);
		card_bench_await_woken(link, &block->mcu_state, PB_MCU_RESTARTING);
		let_card_poll(link, before);
		assert_int_equal(block->mcu_state, PB_MCU_RESTARTING);
		assert_int_equal(block->mcu_deaths, deaths);
		assert_int_equal(block->fatal.valid, fatal);
		assert_int_equal(block->incarnation, deaths);
		pb_shared_write32(&card_bench_mailbox(link)->hold_boot, 0);
		card_bench_await(&block->incarnation, deaths + 1);
		card_bench_await(&block->mcu_state, PB_MCU_RUNNING);
		/* Hosts may come: the card has told the new firmware who may do what. */
		for (uint32_t c = 0; c < FAKE_CHANNELS; c++) {
			const struct fake_mailbox *mailbox = card_bench_mailbox(link);

			assert_int_equal(mailbox->privileges[c],
					 c != 0 ? PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY : 0);
			assert_int_equal(mailbox->weights[c], c != 0 ? 1 : 0);
			assert_int_equal(mailbox->priorities[c], c != 0 ? PB_PRIORITY_REALTIME : 0);
		}
		assert_int_equal(block->mcu_deaths, deaths);
	}
	link->ops->close(link);
	card_bench_end(&bench);
}

/* A card that is stopped starts nothing again, although nothing died. */
static void a_stopped_card_restarts_nothing(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	card_bench_end(&bench);
	assert_int_equal(boot_block(link)->mcu_state, PB_MCU_DEAD);
	assert_int_equal(boot_block(link)->mcu_deaths, 0);
	link->ops->close(link);
}

/* The admin attaches anew after a restart, and closes what was left meanwhile. */
static void hosts_that_leave_during_a_restart_are_detached(void **unused)
{
	struct card_bench bench;
	struct pb_link *witness;
	struct pb_link *leaver;
	struct fake_mailbox *mailbox;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	witness = card_bench_open(&bench);
	leaver = card_bench_open(&bench);
	mailbox = card_bench_mailbox(witness);
	pb_shared_write32(&mailbox->hold_attach, 1);
	kill_mcu(witness);
	card_bench_await(&boot_block(witness)->incarnation, 2);
	leaver->ops->close(leaver);
	/* The card has heard of it before it hears this. */
	for (uint32_t i = 1; i <= 3; i++) {
		uint32_t rings = pb_shared_read32(&mailbox->doorbells[1]);

		witness->ops->doorbell(witness);
		card_bench_await(&mailbox->doorbells[1], rings + 1);
	}
	assert_int_equal(pb_shared_read32(&mailbox->closes[2]), 0);
	pb_shared_write32(&mailbox->hold_attach, 0);
	card_bench_await(&mailbox->closes[2], 1);
	witness->ops->close(witness);
	card_bench_end(&bench);
}

/* A channel that waits for the firmware to close it is free once that firmware is dead. */
static void death_frees_channels_that_wait_to_be_closed(void **unused)
{
	struct card_bench bench;
	struct pb_link *links[PB_SOCKET_CLIENTS];

	(void)unused;
	card_bench_make(&bench);
	bench.options.restarts = 0;
	assert_int_equal(card_bench_start(&bench), 0);
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		links[i] = card_bench_open(&bench);
	pb_shared_write32(&card_bench_mailbox(links[0])->hold_closes, 1);
	links[2]->ops->close(links[2]);
	kill_mcu(links[0]);
	links[2] = card_bench_open(&bench);
	assert_int_equal(links[2]->channel, 3);
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		links[i]->ops->close(links[i]);
	card_bench_end(&bench);
}

/* ---- starts that must fail ---- */

static const char *const no_arguments[] = {NULL};
static const struct pb_machine missing_program = {
	.board = "none", .program = "no-such-emulator", .package = "some-package", .arguments = no_arguments};
static const struct pb_machine ends_at_once = {
	.board = "none", .program = FAKE_MCU, .package = "none", .arguments = no_arguments};
static const char *const fail_arguments[] = {"{memory}", "{lines}", "{image}", "fail", NULL};
static const struct pb_machine fails_at_boot = {
	.board = "none", .program = FAKE_MCU, .package = "none", .arguments = fail_arguments};

/* What differs from a card that would start; NULL: nothing. */
struct refusal {
	const struct pb_machine *machine;
	const char *board;
	const char *image;
	const char *socket;
	const char *directory;
	const char *said;
};

static void check_refused(const struct refusal *refusal)
{
	struct card_bench bench;
	struct pb_card_options *options = &bench.options;

	card_bench_make(&bench);
	if (refusal->machine != NULL || refusal->board != NULL)
		options->machine = refusal->machine;
	options->board = refusal->board != NULL ? refusal->board : options->board;
	options->image = refusal->image != NULL ? refusal->image : options->image;
	options->socket = refusal->socket != NULL ? refusal->socket : options->socket;
	options->directory = refusal->directory != NULL ? refusal->directory : options->directory;
	assert_int_equal(card_bench_start(&bench), -1);
	assert_true(card_bench_said(&bench, refusal->said));
	/* It left nothing behind. */
	unlink(bench.log);
	assert_int_equal(rmdir(bench.directory), 0);
}

static void test_refusals(void **unused)
{
	static const char long_path[] =
		"/tmp/"
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789";
	static const struct refusal refusals[] = {
		{.machine = &missing_program,
		 .said = "no-such-emulator is not installed; Debian package some-package"},
		{.machine = &ends_at_once, .said = "the MCU ended before the firmware ran: exit status 3"},
		{.machine = &fails_at_boot,
		 .said = "the MCU ended before the firmware ran: CPU_FAULT, pc 0x00001234, status "
			 "0x00010000, at stage FATAL, waypoint PATCH\n"},
		{.board = "no_such_board", .said = "there is no emulator for board no_such_board"},
		{.image = "/no/such/image", .said = "no firmware image at /no/such/image"},
		{.socket = "/no/such/folder/socket", .said = "cannot listen at /no/such/folder/socket"},
		{.directory = "/no/such/folder/files", .said = "cannot make directory /no/such/folder/files"},
		{.socket = long_path, .said = "too long for a socket"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		check_refused(&refusals[i]);
}

static void a_socket_serves_one_card(void **unused)
{
	struct card_bench first;
	struct card_bench second;
	struct pb_link *link;

	(void)unused;
	card_bench_make(&first);
	assert_int_equal(card_bench_start(&first), 0);
	card_bench_make(&second);
	second.options.socket = first.socket;
	assert_int_equal(card_bench_start(&second), -1);
	assert_true(card_bench_said(&second, "another card listens at"));
	unlink(second.log);
	assert_int_equal(rmdir(second.directory), 0);
	/* The first did not suffer. */
	link = card_bench_open(&first);
	link->ops->close(link);
	card_bench_end(&first);
}

/* Only a socket may be in the way of a socket. */
static void files_that_are_no_sockets_are_kept(void **unused)
{
	static const char kept[] = "another one's";
	struct card_bench bench;
	char text[sizeof(kept)] = "";
	int file;

	(void)unused;
	card_bench_make(&bench);
	file = open(bench.socket, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(file >= 0 && write(file, kept, sizeof(kept)) == (ssize_t)sizeof(kept));
	close(file);
	assert_int_equal(card_bench_start(&bench), -1);
	assert_true(card_bench_said(&bench, "/socket exists and is no socket\n"));
	file = open(bench.socket, O_RDONLY);
	assert_true(file >= 0 && read(file, text, sizeof(text)) == (ssize_t)sizeof(text));
	close(file);
	assert_string_equal(text, kept);
	unlink(bench.socket);
	unlink(bench.log);
	assert_int_equal(rmdir(bench.directory), 0);
}

/* A card that was killed leaves its files; the next one takes their place. */
static void files_of_a_killed_card_are_replaced(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;
	pid_t mcu;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	mcu = (pid_t)pb_shared_read32(&card_bench_mailbox(link)->pid);
	assert_int_equal(kill(bench.card, SIGKILL), 0);
	assert_int_equal(pb_card_stop(bench.card), -1);
	/* The MCU goes with it. */
	unit_await(kill(mcu, 0) != 0);
	link->ops->close(link);
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	assert_int_equal(boot_block(link)->incarnation, 1);
	link->ops->close(link);
	/* The folder was there already, so it is not the second card's to remove. */
	assert_int_equal(pb_card_stop(bench.card), 0);
	assert_int_equal(rmdir(bench.files), 0);
	unlink(bench.log);
	assert_int_equal(rmdir(bench.directory), 0);
}

static void test_own_directory_and_quiet(void **unused)
{
	struct card_bench bench;
	struct pb_link *link;

	(void)unused;
	card_bench_make(&bench);
	bench.options.directory = NULL;
	bench.options.quiet = true;
	assert_int_equal(setenv("XDG_RUNTIME_DIR", bench.directory, 1), 0);
	assert_int_equal(card_bench_start(&bench), 0);
	link = card_bench_open(&bench);
	link->ops->close(link);
	assert_true(card_bench_kept_quiet(&bench));
	card_bench_end(&bench);
	unsetenv("XDG_RUNTIME_DIR");
}

static void test_says_what_it_is(void **unused)
{
	struct card_bench bench;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	assert_true(card_bench_said(&bench, "card: board mps2_an500, socket "));
	assert_true(card_bench_said(&bench, ", memory 16 MiB, MCU pid "));
	assert_true(card_bench_said(&bench, "card: ready\n"));
	card_bench_end(&bench);
}

UNIT_SUITE(test_card_supervisor)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(a_fatal_boot_stage_restarts_the_mcu),
		cmocka_unit_test(test_fatal_and_restart),
		cmocka_unit_test(words_of_the_dead_mcu_are_not_those_of_the_new_one),
		cmocka_unit_test(a_stopped_card_restarts_nothing),
		cmocka_unit_test(hosts_that_leave_during_a_restart_are_detached),
		cmocka_unit_test(death_frees_channels_that_wait_to_be_closed),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(a_socket_serves_one_card),
		cmocka_unit_test(files_that_are_no_sockets_are_kept),
		cmocka_unit_test(files_of_a_killed_card_are_replaced),
		cmocka_unit_test(test_own_directory_and_quiet),
		cmocka_unit_test(test_says_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
