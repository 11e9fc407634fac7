/* SPDX-License-Identifier: MIT */
/*
 * A board at a debug probe: commands reach the MCU's memory through QEMU's gdb stub, and a halted MCU is not
 * dead.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_gdb_remote.h"
#include "patchbay/abi/boot.h"
#include "patchbay/link.h"
#include "qemu/mcu/layout.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

struct board {
	pid_t card;
	char socket[E2E_PATH_BYTES];
	char stub[E2E_PATH_BYTES];
	char link[E2E_PATH_BYTES + 64]; /* argument of --link */
};

/* Starts a card whose MCU is halted at reset. */
static void start_board(struct board *board)
{
	e2e_path(board->socket, "card");
	e2e_path(board->stub, "gdb");
	(void)snprintf(board->link, sizeof(board->link), "gdb:%s", board->stub);
	board->card =
		e2e_spawn(E2E_PATCHBAY,
			  E2E_ARGUMENT_LIST("card", "--quiet", "--restarts", "0", "--image", e2e_image(),
					    "--socket", board->socket, "--gdb", board->stub),
			  NULL);
	e2e_await_listener(board->stub);
	e2e_await_listener(board->socket);
}

static void stop_board(const struct board *board)
{
	int status;

	assert_int_equal(kill(board->card, SIGTERM), 0);
	assert_int_equal(waitpid(board->card, &status, 0), board->card);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(access(board->stub, F_OK), -1);
}

static void check_info(const struct board *board)
{
	static struct e2e_output output;
	double host_bytes;
	cJSON *object;

	e2e_patchbay(&output, "info", "--json", "--link", board->link);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	object = cJSON_Parse(output.out);
	assert_non_null(object);
	assert_string_equal(cJSON_GetObjectItemCaseSensitive(object, "boot_stage")->valuestring, "RUNNING");
	assert_string_equal(cJSON_GetObjectItemCaseSensitive(object, "build")->valuestring,
			    "patchbay " PB_VERSION " mps2_an500");
	/* The last part of card memory is host memory, as the board states. */
	host_bytes = cJSON_GetObjectItemCaseSensitive(
			     cJSON_GetObjectItemCaseSensitive(object, "capabilities"), "HOST_BYTES")
			     ->valuedouble;
	assert_true(host_bytes != 0);
	assert_true(cJSON_GetObjectItemCaseSensitive(object, "memory_bytes")->valuedouble ==
		    PB_CARD_MEMORY_BYTES - host_bytes);
	cJSON_Delete(object);
}

/* The first command lets the MCU run. The others halt it for moments. */
static void commands_run_over_a_probe(void **state)
{
	static struct e2e_output output;
	char pictures[E2E_PATH_BYTES], found[E2E_PATH_BYTES];
	size_t found_bytes, expected_bytes;
	struct board board;
	uint8_t *text, *expected;

	(void)state;
	start_board(&board);
	check_info(&board);
	e2e_path(pictures, "pictures");
	e2e_patchbay(&output, "demo", "--frames", "2", "--output", pictures, "--link", board.link);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	assert_non_null(strstr(output.out, "demo: ok 2 frames"));
	e2e_path(found, "found.tsv");
	e2e_patchbay(&output, "replay", E2E_DATA "/snb.subm.zst", "--crc-out", found, "--link", board.link);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	text = e2e_read_file(found, &found_bytes);
	expected = e2e_read_file(E2E_DATA "/snb.expect.tsv", &expected_bytes);
	assert_string_equal((char *)text, (char *)expected);
	free(text);
	free(expected);
	/* Hosts at the card's socket have found it alive all the time. */
	e2e_patchbay(&output, "demo", "--frames", "1", "--output", pictures, "--card", board.socket);
	assert_int_equal(output.code, 0);
	stop_board(&board);
}

/* Without patching the picture is wrong, as on every card: the bytes read over the probe are the card's. */
static void the_demo_fails_without_patching(void **state)
{
	static struct e2e_output output;
	char pictures[E2E_PATH_BYTES];
	struct board board;

	(void)state;
	start_board(&board);
	e2e_path(pictures, "pictures");
	e2e_patchbay(&output, "demo", "--frames", "1", "--no-patches", "--output", pictures, "--link",
		     board.link);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.out, "demo: failed"));
	stop_board(&board);
}

/* ---- halted is not dead ---- */

static const struct pb_boot_block *block_of(const struct pb_link *link)
{
	return (const void *)(link->memory + PB_BOOT_OFFSET);
}

static void await_running(const struct pb_boot_block *block)
{
	const uint64_t start = e2e_now();

	while (pb_shared_read32(&block->mcu_state) != PB_MCU_RUNNING)
		assert_true(e2e_patience(start));
}

static void connect_stub(const struct board *board, struct pb_gdb *gdb)
{
	int socket;

	assert_int_equal(pb_gdb_connect(board->stub, &socket), PB_ERROR_OK);
	assert_int_equal(pb_gdb_greet(gdb, socket, PB_GDB_PATIENCE_US), PB_ERROR_OK);
}

/* Short, so that the card's clock would pass it many times in the turns below. */
#define DEAD_US 50000u
#define TURNS   200u

static int card_body(struct e2e_process *self, void *argument)
{
	const struct board *board = argument;
	struct pb_card_options options = e2e_card_options();

	(void)self;
	options.image = e2e_image();
	options.socket = board->socket;
	options.gdb = board->stub;
	options.dead_us = DEAD_US;
	options.restarts = 0;
	options.quiet = true;
	return pb_card_run(&options);
}

/* As start_board(), with a card that takes firmware for dead sooner. */
static void start_impatient_board(struct board *board)
{
	struct e2e_process process;

	e2e_path(board->socket, "card");
	e2e_path(board->stub, "gdb");
	e2e_process_start(&process, card_body, board);
	board->card = process.pid;
	e2e_await_listener(board->stub);
	e2e_await_listener(board->socket);
}

static void a_halted_mcu_is_not_dead(void **state)
{
	static struct pb_gdb gdb;
	const struct pb_boot_block *block;
	struct pb_link *link;
	struct board board;
	uint32_t clock;

	(void)state;
	start_impatient_board(&board);
	assert_int_equal(pb_link_open_socket(board.socket, &link), PB_ERROR_OK);
	block = block_of(link);
	/* Halted at reset. */
	e2e_await_sleeps(board.card, TURNS);
	assert_int_equal(pb_shared_read32(&block->boot_stage), PB_BOOT_STAGE_NONE);
	assert_int_equal(pb_shared_read32(&block->mcu_deaths), 0);
	connect_stub(&board, &gdb);
	assert_int_equal(pb_gdb_resume(&gdb), PB_ERROR_OK);
	await_running(block);
	assert_int_equal(pb_gdb_halt(&gdb), PB_ERROR_OK);
	e2e_await_sleeps(board.card, TURNS);
	clock = pb_shared_read32(&block->clock);
	e2e_await_sleeps(board.card, TURNS);
	/* Card time has stopped while the MCU is halted, and it was not resumed. */
	assert_int_equal(pb_shared_read32(&block->clock), clock);
	assert_true(clock - pb_shared_read32(&block->heartbeat_clock) < PB_HEARTBEAT_US);
	assert_int_equal(pb_shared_read32(&block->mcu_deaths), 0);
	assert_int_equal(pb_shared_read32(&block->mcu_state), PB_MCU_RUNNING);
	assert_int_equal(pb_gdb_read(&gdb, 0x60000000, &clock, sizeof(clock)), PB_ERROR_OK);
	assert_int_equal(clock, PB_BOOT_MAGIC);
	pb_gdb_leave(&gdb);
	close(gdb.wire.socket);
	link->ops->close(link);
	stop_board(&board);
}

/* ---- errors ---- */

static double number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static void wrong_links_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"info", "--link", "usb:1"},
		 2,
		 "--link usb:1: give gdb:STUB or gdb:STUB,ADDRESS,BYTES, vfio:ADDRESS or pci:ADDRESS"},
		{{"info", "--link", "vfio:4"},
		 1,
		 "4: no address of a PCI device: give one as in 0000:00:04.0"},
		{{"info", "--link", "vfio:ffff:ff:1f.7"}, 1, "ffff:ff:1f.7: there is no ivshmem device"},
		{{"stats", "--link", "pci:ffff:ff:1f.7"}, 1, "ffff:ff:1f.7: there is no ivshmem device"},
		{{"info", "--link", "vfio:4", "--sim"}, 2, "give one"},
		{{"demo", "--link", "pci:4", "--wddm"}, 2, "--wddm takes the whole card"},
		{{"info", "--link", "gdb:"}, 2, "give gdb:STUB"},
		{{"info", "--link", "gdb:a:1,x,y"}, 2, "give gdb:STUB"},
		{{"info", "--link", "gdb:a:1", "--sim"}, 2, "give one"},
		{{"info", "--link", "gdb:/no/such/stub"}, 1, "no gdb stub answers at /no/such/stub"},
		{{"demo", "--link", "gdb:127.0.0.1:1"}, 1, "no gdb stub answers at 127.0.0.1:1"},
		{{"card", "--image", "/tmp/no/such/image", "--socket", "/tmp/no/such/folder", "--gdb",
		  "/tmp/a,b"},
		 1,
		 "card: "},
	};
	static struct e2e_output output;
	char link[E2E_PATH_BYTES + 64];
	struct board board;
	uint32_t address;
	cJSON *image;

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
	/* An address without a boot block: behind the block. */
	start_board(&board);
	e2e_collect(e2e_spawn(E2E_PATCHBAY, E2E_ARGUMENT_LIST("image", "--json", e2e_image()), NULL),
		    &output);
	image = cJSON_Parse(output.out);
	address = (uint32_t)number_of(image, "card_memory") + 0x10000u;
	cJSON_Delete(image);
	(void)snprintf(link, sizeof(link), "gdb:%s,%#" PRIx32 ",0x10000", board.stub, address);
	e2e_patchbay(&output, "info", "--link", link);
	assert_int_equal(output.code, 1);
	(void)snprintf(link, sizeof(link), "no boot block at %#" PRIx32, address);
	assert_non_null(strstr(output.err, link));
	stop_board(&board);
}

/* ---- what an editor starts ---- */

static const char *text_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsString(item));
	return item->valuestring;
}

static cJSON *read_json(const char *path)
{
	size_t bytes;
	char *text = (char *)e2e_read_file(path, &bytes);
	cJSON *object = cJSON_Parse(text);

	assert_non_null(object);
	free(text);
	return object;
}

static void the_editor_files_start_a_session(void **state)
{
	cJSON *launch = read_json(E2E_DATA "/../../.vscode/launch.json");
	cJSON *tasks = read_json(E2E_DATA "/../../.vscode/tasks.json");
	const cJSON *task = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(tasks, "tasks"), 0);
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(launch, "configurations");

	(void)state;
	assert_int_equal(cJSON_GetArraySize(all), 2);
	for (int i = 0; i < 2; i++) {
		const cJSON *one = cJSON_GetArrayItem(all, i);

		assert_string_equal(text_of(one, "type"), "cppdbg");
		assert_string_equal(text_of(one, "miDebuggerPath"), "gdb-multiarch");
		assert_non_null(
			strstr(text_of(one, "program"), "/build/${input:board}/patchbay-${input:board}.elf"));
	}
	assert_string_equal(text_of(cJSON_GetArrayItem(all, 0), "preLaunchTask"), text_of(task, "label"));
	assert_non_null(strstr(text_of(task, "command"),
			       text_of(cJSON_GetArrayItem(all, 0), "miDebuggerServerAddress")));
	cJSON_Delete(launch);
	cJSON_Delete(tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(commands_run_over_a_probe),        e2e_test(the_demo_fails_without_patching),
		e2e_test(a_halted_mcu_is_not_dead),         e2e_test(wrong_links_are_refused),
		e2e_test(the_editor_files_start_a_session),
	};

	return e2e_run_tests(tests);
}
