/* SPDX-License-Identifier: MIT */
/* The crash record as the firmware writes it, of faults that a test makes up. */
#include <string.h>

#include "firmware/firmware.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/card_fixture.h"

#define STACK_WORDS 300u

static uint32_t stack[STACK_WORDS];

static const struct pb_crash_record *record_of(const struct card *card)
{
	return (const struct pb_crash_record *)(const void *)(card->link->memory + PB_CARD_CRASH_OFFSET);
}

static struct pb_fault a_fault(const uintptr_t *registers, uint32_t count, uintptr_t sp)
{
	static const uint32_t build_id[5] = {0x11111111, 0x22222222, 0x33333333, 0x44444444, 0x55555555};

	for (uint32_t i = 0; i < STACK_WORDS; i++)
		stack[i] = 0xabc00000u + i;
	return (struct pb_fault){
		.record = {.kind = PB_FATAL_CPU_FAULT, .pc = 1, .lr = 2, .status = 3, .address = 4, .psr = 5},
		.cpu = PB_CRASH_CPU_RISCV64,
		.more = 6,
		.registers = registers,
		.register_count = count,
		.stack = sp,
		.stack_bottom = stack,
		.stack_top = stack + STACK_WORDS,
		.build_id = build_id,
	};
}

static void fields_and_registers(void **state)
{
	const struct pb_crash_record *record;
	const struct pb_boot_block *boot;
	uintptr_t registers[31];
	struct pb_fault fault;
	struct card card;

	(void)state;
	for (uint32_t i = 0; i < 31u; i++)
		registers[i] = (uintptr_t)-1 - i * 0x1001u;
	card_start(&card);
	boot = (const struct pb_boot_block *)(const void *)card.link->memory;
	record = record_of(&card);
	assert_int_equal(boot->crash_offset, PB_CARD_CRASH_OFFSET);
	assert_int_equal(boot->crash_bytes, sizeof(*record));
	assert_int_equal(record->magic, 0);
	fault = a_fault(registers, 31, (uintptr_t)stack);
	pb_firmware_fatal(&fault);
	assert_int_equal(record->magic, PB_CRASH_MAGIC);
	assert_int_equal(record->bytes, 1152);
	assert_int_equal(record->incarnation, boot->incarnation);
	assert_int_equal(record->boot_stage, PB_BOOT_STAGE_RUNNING);
	assert_int_equal(record->heartbeat, boot->heartbeat);
	assert_int_equal(record->cpu, PB_CRASH_CPU_RISCV64);
	assert_int_equal(record->more, 6);
	assert_memory_equal(record->build_id, fault.build_id, sizeof(record->build_id));
	assert_int_equal(record->kind, PB_FATAL_CPU_FAULT);
	assert_int_equal(record->waypoint, boot->waypoint);
	/* Both records say the same of it. */
	assert_memory_equal(&record->kind, &boot->fatal.kind, 6u * sizeof(uint32_t));
	assert_int_equal(boot->fatal.valid, 1);
	assert_int_equal(boot->boot_stage, PB_BOOT_STAGE_FATAL);
	for (uint32_t i = 0; i < PB_CRASH_REGISTERS; i++) {
		const uint64_t expected = i < 31u ? registers[i] : 0;

		assert_int_equal(record->registers[i], (uint32_t)expected);
		assert_int_equal(record->registers_high[i], (uint32_t)(expected >> 32));
	}
	card.channel.attached = false;
	card_stop(&card);
}

static void slices_of_the_stack(void **state)
{
	const struct {
		const char *what;
		intptr_t sp; /* in bytes from the bottom */
		uint32_t first, words;
	} cases[] = {
		{"at the bottom", 0, 0, 128},
		{"in the middle", 400, 100, 128},
		{"one too many for it", 4 * (STACK_WORDS - 129), STACK_WORDS - 129, 128},
		{"just all of it", 4 * (STACK_WORDS - 128), STACK_WORDS - 128, 128},
		{"less than a slice", 4 * (STACK_WORDS - 5), STACK_WORDS - 5, 5},
		{"one word", 4 * (STACK_WORDS - 1), STACK_WORDS - 1, 1},
		{"no multiple of a word", 4 * (STACK_WORDS - 2) + 3, STACK_WORDS - 2, 2},
		{"at the top", 4 * STACK_WORDS, 0, 0},
		{"above", 4 * STACK_WORDS + 40, 0, 0},
		{"below: it ran over the end", -40, 0, 128},
	};
	const struct pb_crash_record *record;
	struct card card;

	(void)state;
	card_start(&card);
	record = record_of(&card);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_fault fault = a_fault(NULL, 0, (uintptr_t)stack + (uintptr_t)cases[i].sp);

		print_message("%s\n", cases[i].what);
		pb_firmware_fatal(&fault);
		assert_int_equal(record->stack_words, cases[i].words);
		assert_int_equal(record->stack_bottom, (uint32_t)(uintptr_t)stack);
		assert_int_equal(record->stack_top, (uint32_t)(uintptr_t)(stack + STACK_WORDS));
		for (uint32_t w = 0; w < cases[i].words; w++)
			assert_int_equal(record->stack[w], 0xabc00000u + cases[i].first + w);
		if (cases[i].words != 0)
			assert_int_equal(record->stack_address, (uint32_t)(uintptr_t)&stack[cases[i].first]);
	}
	card.channel.attached = false;
	card_stop(&card);
}

static void what_it_did_last(void **state)
{
	const uint32_t channel = 1;
	const struct pb_crash_record *record;
	struct pb_fault fault;
	struct card card;
	uint32_t ping = 0;

	(void)state;
	card_attach(&card);
	record = record_of(&card);
	/* Five stages of booting; the admin's channel opens, and gives each client its privileges; channel 1 opens. */
	fault = a_fault(NULL, 0, 0);
	pb_firmware_fatal(&fault);
	assert_int_equal(record->note_count, 5 + 1 + PB_LIMIT_CLIENTS + 1);
	assert_int_equal(record->notes[0].what, PB_CRASH_NOTE_STAGE);
	assert_int_equal(record->notes[0].value, PB_BOOT_STAGE_NONE);
	assert_int_equal(record->notes[4].what, PB_CRASH_NOTE_STAGE);
	assert_int_equal(record->notes[4].value, PB_BOOT_STAGE_RUNNING);
	assert_int_equal(record->notes[record->note_count - 1u].what, channel << 16 | PB_CRASH_NOTE_CHANNEL);
	assert_int_equal(record->notes[record->note_count - 1u].value, PB_CHANNEL_OPEN);
	((struct pb_boot_block *)(void *)card.link->memory)->boot_stage = PB_BOOT_STAGE_RUNNING;
	/* More than there is room for: the last 16 are kept, at their own numbers. */
	for (; ping < 20u; ping++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};

		assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_PING, arguments, NULL),
				 PB_ERROR_OK);
	}
	pb_firmware_fatal(&fault);
	assert_int_equal(record->note_count, 15 + 20);
	for (uint32_t i = 0; i < PB_CRASH_NOTES; i++) {
		assert_int_equal(record->notes[i].what, channel << 16 | PB_CRASH_NOTE_COMMAND);
		assert_int_equal(record->notes[i].value, PB_COMMAND_PING);
	}
	card.channel.attached = false;
	card_stop(&card);
}

UNIT_SUITE(test_firmware_crash)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_and_registers),
		cmocka_unit_test(slices_of_the_stack),
		cmocka_unit_test(what_it_did_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
