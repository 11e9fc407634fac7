/* SPDX-License-Identifier: MIT */
/* Crash records in words, without an image: every number that firmware may have written has some. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "host/tool/crash_report.h"
#include "patchbay/abi/boot.h"
#include "tests/unit/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void statuses(void **state)
{
	static const struct {
		uint32_t kind, cpu, status;
		const char *begins;
	} cases[] = {
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 0x82, "an access that the MPU forbids"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 0x01,
		 "execution from an address that is not executable"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 0x92, "stack overflow into the guard region"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 1u << 20, "stack overflow: the stack pointer"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 1u << 16, "an instruction that"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 0, ""},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_ARM_M, 1u << 31, ""},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_RISCV32, 1,
		 "execution from an address that is not executable"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_RISCV64, 2, "an instruction that"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_RISCV64, 7, "a store that is forbidden"},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_RISCV64, 8, ""},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_RISCV32, 0x80000007, ""},
		{PB_FATAL_CPU_FAULT, PB_CRASH_CPU_NONE, 1, ""},
		{PB_FATAL_CPU_FAULT, 0xffffffff, 0xffffffff, ""},
		{PB_FATAL_ASSERT, PB_CRASH_CPU_ARM_M, 0x82, ""},
		{0xffffffff, PB_CRASH_CPU_RISCV32, 1, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct pb_crash_record record = {
			.kind = cases[i].kind, .cpu = cases[i].cpu, .status = cases[i].status};
		const char *text = pb_crash_status(&record);

		print_message("%zu %s\n", i, text);
		assert_int_equal(strncmp(text, cases[i].begins, strlen(cases[i].begins)), 0);
		assert_int_equal(text[0] == '\0', cases[i].begins[0] == '\0');
	}
}

static void registers(void **state)
{
	(void)state;
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_ARM_M, 0), "r0");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_ARM_M, 13), "sp");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_ARM_M, 15), "pc");
	assert_null(pb_crash_register(PB_CRASH_CPU_ARM_M, 16));
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_RISCV32, 0), "pc");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_RISCV32, 1), "ra");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_RISCV64, 2), "sp");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_RISCV64, 10), "a0");
	assert_string_equal(pb_crash_register(PB_CRASH_CPU_RISCV64, 31), "t6");
	assert_null(pb_crash_register(PB_CRASH_CPU_RISCV64, 32));
	assert_null(pb_crash_register(PB_CRASH_CPU_NONE, 0));
	assert_null(pb_crash_register(4, 0));
	assert_null(pb_crash_register(UINT32_MAX, UINT32_MAX));
}

static void notes(void **state)
{
	static const struct {
		uint32_t what, value;
		const char *text;
	} cases[] = {
		{1, 4, "boot stage RUNNING"},
		{1, 99, "boot stage ?"},
		{1u << 16 | 2, 1, "channel 1 is OPEN"},
		{8u << 16 | 2, 3, "channel 8 is FAULTED"},
		{8u << 16 | 2, 4, "channel 8 is ?"},
		{2u << 16 | 3, 7, "channel 2 sent command QUEUE_CREATE"},
		{2u << 16 | 3, 0, "channel 2 sent command ?"},
		{3u << 16 | 4, 7, "channel 3 got event PREEMPTED"},
		{1u << 16 | 5, 0, "engine of node 1 reset"},
		{1u << 16 | 6, 0, "engine of node 1 switched off and on"},
		{3u << 16 | 7, 0, "node 3 declared dead"},
		{0xffffffff, 0xffffffff, "? 65535 of 65535: 4294967295"},
	};

	(void)state;
	for (uint32_t before = 0; before < 40u; before++) {
		struct pb_crash_record record = {.note_count = before + (uint32_t)COUNT(cases)};
		const uint32_t kept = record.note_count < 16u ? record.note_count : 16u;
		char text[PB_CRASH_NOTE_BYTES];
		uint32_t heartbeat;

		for (uint32_t i = 0; i < COUNT(cases); i++) {
			struct pb_crash_note *note = &record.notes[(before + i) % 16u];

			*note = (struct pb_crash_note){
				.heartbeat = 1000u + i, .what = cases[i].what, .value = cases[i].value};
		}
		for (uint32_t i = 0; i < COUNT(cases); i++) {
			assert_true(
				pb_crash_note(&record, kept - (uint32_t)COUNT(cases) + i, &heartbeat, text));
			assert_string_equal(text, cases[i].text);
			assert_int_equal(heartbeat, 1000u + i);
		}
		assert_false(pb_crash_note(&record, kept, &heartbeat, text));
		assert_false(pb_crash_note(&record, UINT32_MAX, &heartbeat, text));
	}
}

/* Whatever stands in a record whose counts are right, it is printed. */
static void garbage_is_printed(void **state)
{
	uint32_t random = 12345;

	(void)state;
	for (uint32_t round = 0; round < 64u; round++) {
		struct pb_crash_record record;
		const struct pb_crash_view view = {.record = &record, .incarnation = 1};
		char *text = NULL;
		size_t bytes = 0;
		FILE *stream = open_memstream(&text, &bytes);

		assert_non_null(stream);
		for (uint32_t i = 0; i < sizeof(record) / sizeof(uint32_t); i++) {
			random = random * 1664525u + 1013904223u;
			(&record.magic)[i] = random >> 8 | random << 24;
		}
		record.cpu = round % 5u;
		record.stack_words = round * 2u + 2u;
		pb_crash_print(stream, &view);
		assert_true(pb_crash_print_json(stream, &view));
		assert_int_equal(fclose(stream), 0);
		assert_non_null(strstr(text, "crash          ?"));
		assert_non_null(strstr(text, "\"kind\":\t\"?\""));
		free(text);
	}
}

static void symbols_of_what_is_no_image(void **state)
{
	char text[PB_SYMBOL_TEXT_BYTES] = "";

	(void)state;
	assert_null(pb_symbols_open("/nonexistent/image.elf", text));
	assert_string_equal(text, "No such file or directory");
	assert_null(pb_symbols_open("/dev/null", text));
	assert_string_equal(text, "the file is empty");
	assert_null(pb_symbols_open("/etc/hostname", text));
	assert_string_equal(text, "the file is no ELF file; symbols need one");
}

UNIT_SUITE(test_crash_report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses),
		cmocka_unit_test(registers),
		cmocka_unit_test(notes),
		cmocka_unit_test(garbage_is_printed),
		cmocka_unit_test(symbols_of_what_is_no_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
