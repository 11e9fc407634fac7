/* SPDX-License-Identifier: MIT */
/* `patchbay info`, and the messages for wrong arguments. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "patchbay/abi/base.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

static double number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static void check_text(const cJSON *object, const char *name, const char *expected)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsString(item));
	assert_string_equal(item->valuestring, expected);
}

/*
 * What differs among boards: host memory, which the board with the smallest memory file takes from the pool. The numbers
 * are those of docs/memory.md, so that a board whose definitions change fails here.
 */
struct memory {
	const char *board;
	double kinds;
	double bytes;
	double host;
	double pool;
	double pool_min;
};

#define MIB (1024.0 * 1024)

static const struct memory memories[] = {
	{"mps2_an500", 7, 13 * MIB, 3 * MIB, 0xcbf000, 90 * 4096},
	{"mps3_an547", 7, 16 * MIB, 16 * MIB, 0xfbf000, 111 * 4096},
	{"", 3, 16 * MIB, 0, 0xfbf000, 111 * 4096}, /* the others, and the simulation */
};

static const struct memory *memory_of(const char *board)
{
	const struct memory *memory = memories;

	while (memory->board[0] != '\0' && strcmp(memory->board, board) != 0)
		memory++;
	return memory;
}

static void check_capabilities(const cJSON *object, const struct memory *memory)
{
	const struct {
		const char *name;
		double value;
	} expected[] = {
		{"NODES", 4},
		{"NODE_KINDS", 0x2121},
		{"CLIENTS", 8},
		{"QUEUES", 4096},
		{"CONTEXTS", 512},
		{"SEGMENTS", 32},
		{"SEGMENTS_TOTAL", 96},
		{"SEGMENT_KINDS", memory->kinds},
		{"APERTURE_PAGES", 16384},
		{"RING_ENTRIES_MIN", 4},
		{"RING_ENTRIES_MAX", 256},
		{"TICK_MICROSECONDS", 5000},
		{"POOL_OFFSET", 0x20000},
		{"POOL_BYTES", memory->pool},
		{"HOST_BYTES", memory->host},
		{"FORMATS", 26},
		{"QUEUES_MIN", 227},
		{"CONTEXTS_MIN", 28},
		{"SEGMENTS_MIN", 5},
		{"FORMATS_MIN", 3},
		{"POOL_BYTES_MIN", memory->pool_min},
		{"STOPS_MIN", 1},
		{"WAKES_MIN", 1},
	};
	const cJSON *capabilities = cJSON_GetObjectItemCaseSensitive(object, "capabilities");

	assert_true(cJSON_IsObject(capabilities));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(number(capabilities, expected[i].name) == expected[i].value);
}

/* What holds for every card whose firmware runs. */
static cJSON *parse_running(const char *text, const char *board)
{
	const struct memory *memory = memory_of(board);
	cJSON *object = cJSON_Parse(text);

	assert_non_null(object);
	check_text(object, "boot_stage", "RUNNING");
	assert_true(number(object, "abi_major") == PB_ABI_MAJOR);
	assert_true(number(object, "abi_minor") == PB_ABI_MINOR);
	assert_true(number(object, "memory_bytes") == memory->bytes);
	assert_true(number(object, "incarnation") == 1);
	assert_true(number(object, "mcu_deaths") == 0);
	assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, "fatal")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, "last_death")));
	check_capabilities(object, memory);
	return object;
}

static void info_starts_a_card_of_its_own(void **state)
{
	char build[32];
	static struct e2e_output output;
	cJSON *object;

	(void)state;
	e2e_patchbay(&output, "info", "--json");
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	object = parse_running(output.out, e2e_board());
	snprintf(build, sizeof(build), "patchbay " PB_VERSION " %s", e2e_board());
	check_text(object, "build", build);
	check_text(object, "mcu_state", "running");
	cJSON_Delete(object);
}

static void info_describes_a_simulated_card(void **state)
{
	static struct e2e_output output;
	cJSON *object;

	(void)state;
	e2e_patchbay(&output, "info", "--json", "--sim");
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	object = parse_running(output.out, "");
	check_text(object, "mcu_state", "not supervised");
	cJSON_Delete(object);
}

static double heartbeat(const char *socket)
{
	static struct e2e_output output;
	cJSON *object;
	double beats;

	e2e_patchbay(&output, "info", "--json", "--card", socket);
	assert_int_equal(output.code, 0);
	object = parse_running(output.out, e2e_board());
	beats = number(object, "heartbeat");
	cJSON_Delete(object);
	return beats;
}

static void the_heartbeat_advances_when_idle(void **state)
{
	const uint64_t start = e2e_now();
	struct e2e_card card;
	double first;

	(void)state;
	e2e_card_start(&card, 0);
	first = heartbeat(card.socket);
	/* The heartbeat moves with each tick at least, without any request. */
	while (heartbeat(card.socket) == first)
		assert_true(e2e_patience(start));
	e2e_card_stop(&card);
}

static void the_text_has_every_line(void **state)
{
	static const char *const lines[] = {
		"build          patchbay " PB_VERSION " ",
		"interface      1.3\n",
		"boot stage     RUNNING\n",
		"MCU            running, died 0 times\n",
		"  QUEUES               4096\n",
		"  NODE_KINDS           8481 (3D copy 3D copy)\n",
		" (linear aperture",
		"  PATCH_ENCODINGS      65543 (list compact grouped presumed)\n",
	};
	static struct e2e_output output;
	char memory[40];

	(void)state;
	e2e_patchbay(&output, "info");
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	snprintf(memory, sizeof(memory), "memory         %.0f bytes\n", memory_of(e2e_board())->bytes);
	assert_non_null(strstr(output.out, memory));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(strstr(output.out, lines[i]));
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{NULL}, 2, "Usage: patchbay COMMAND"},
		{{"no-such-command"}, 2, "unknown command no-such-command"},
		{{"--no-such-option"}, 2, "unknown command --no-such-option"},
		{{"info", "--no-such-option"}, 2, "unrecognized option"},
		{{"info", "argument"}, 2, "Too many arguments"},
		{{"info", "--board", "none"}, 2, "there is no board none"},
		{{"card", "--restarts", "some"}, 2, "--restarts some: give a number from 0"},
		{{"card", "--restarts", "-1"}, 2, "--restarts -1: give a number from 0"},
		{{"card", "--board", "none"}, 2, "there is no board none"},
		{{"info", "--card", "/no/such/socket"}, 1, "/no/such/socket: NO_CARD: no card answers there"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

static void help_is_printed(void **state)
{
	static const char *const commands[] = {"demo", "replay", "info", "card"};
	static struct e2e_output output;

	(void)state;
	e2e_patchbay(&output, "--help");
	assert_int_equal(output.code, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_non_null(strstr(output.out, commands[i]));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		e2e_patchbay(&output, commands[i], "--help");
		assert_int_equal(output.code, 0);
		assert_non_null(strstr(output.out, "Usage: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(info_starts_a_card_of_its_own),    e2e_test(info_describes_a_simulated_card),
		e2e_test(the_heartbeat_advances_when_idle), e2e_test(the_text_has_every_line),
		e2e_test(wrong_arguments_are_refused),      e2e_test(help_is_printed),
	};

	return e2e_run_tests(tests);
}
