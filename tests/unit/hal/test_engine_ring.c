/* SPDX-License-Identifier: MIT */
/* The engine's ring and commands: order, faults and how it goes on after them. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

static void starts_clean(void **state)
{
	static const uint32_t zero[16];
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	assert_memory_equal(&bench.registers->head, zero, 48);
	assert_false(pb_engine_model_step(bench.model, 1000));
	assert_memory_equal(&bench.registers->head, zero, 48);
	assert_int_equal(bench.interrupts, 0);
	bench_stop(&bench);
}

static void an_empty_slot_is_fenced(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_feed(&bench, 1, 0, 0);
	bench_feed(&bench, 0xffffffff, 3, 0); /* nothing is touched: channel and address do not matter */
	assert_true(pb_engine_model_step(bench.model, 0));
	assert_int_equal(bench.registers->sequence, 0);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(bench.interrupts, 2);
	assert_int_equal(bench.registers->time, 2);
	assert_int_equal(bench.registers->progress, 2);
	bench_stop(&bench);
}

/* Slot n fills word n; all four words of the ring's round must be there when its fence is seen. */
static void expect_stores(struct bench *bench)
{
	uint32_t sequence = bench->registers->sequence;

	assert_int_equal(bench->interrupts, sequence);
	assert_int_equal(bench->registers->head, sequence);
	assert_int_equal(*bench_at(bench, BENCH_DATA), sequence);
	assert_int_equal(*bench_at(bench, BENCH_DATA + 0x2ffc), sequence);
}

static void slots_run_in_order_around_the_ring(void **state)
{
	struct bench bench;
	uint32_t buffer;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench.on_interrupt = expect_stores;
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < BENCH_SLOTS; i++) {
			buffer = BENCH_BUFFER + 0x100 * i;
			STORE(&bench, buffer, FILL(AT(BENCH_DATA), 0x3000, bench.fed + 1));
			bench_feed(&bench, 1, BENCH_GPU + buffer, 20);
		}
		bench_run(&bench);
		bench_expect_done(&bench);
	}
	assert_int_equal(bench.interrupts, 20);
	bench_stop(&bench);
}

static void the_fence_waits_for_the_last_packet(void **state)
{
	struct bench bench;
	uint32_t steps = 0;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_BUFFER, FILL(AT(BENCH_DATA), 4, 1), BUSY(3), FILL(AT(BENCH_DATA + 4), 4, 2));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 48);
	while (bench.registers->sequence == 0) {
		assert_int_equal(bench.interrupts, 0);
		assert_true(steps < 10);
		pb_engine_model_step(bench.model, 1);
		steps++;
		assert_int_equal(bench.registers->time, steps <= 6 ? steps : 6);
		assert_true((*bench_at(&bench, BENCH_DATA) == 1) == (steps >= 2));
		assert_true((*bench_at(&bench, BENCH_DATA + 4) == 2) == (steps >= 6));
	}
	assert_int_equal(bench.interrupts, 1);
	bench_stop(&bench);
}

static void nonsense_in_a_register_runs_nothing(void **state)
{
	static const struct {
		const char *name;
		size_t at;
		uint32_t value;
		bool runs;
	} cases[] = {
		{"tail at head", offsetof(struct pb_engine_registers, tail), 5, false},
		{"tail behind head", offsetof(struct pb_engine_registers, tail), 4, false},
		{"tail a ring ahead", offsetof(struct pb_engine_registers, tail), 9, true},
		{"tail past the ring", offsetof(struct pb_engine_registers, tail), 10, false},
		{"tail far", offsetof(struct pb_engine_registers, tail), 0x80000005, false},
		{"no slots", offsetof(struct pb_engine_registers, ring_slots), 0, false},
		{"3 slots", offsetof(struct pb_engine_registers, ring_slots), 3, false},
		{"2^31 slots", offsetof(struct pb_engine_registers, ring_slots), 0x80000000, false},
		{"ring unaligned", offsetof(struct pb_engine_registers, ring_offset), BENCH_RING + 2, false},
		{"ring at the end", offsetof(struct pb_engine_registers, ring_offset), BENCH_BYTES - 128,
		 true},
		{"ring past the end", offsetof(struct pb_engine_registers, ring_offset), BENCH_BYTES - 124,
		 false},
		{"ring far", offsetof(struct pb_engine_registers, ring_offset), 0xfffffffc, false},
		{"ranges unaligned", offsetof(struct pb_engine_registers, range_offset), BENCH_RANGES + 1,
		 false},
		{"ranges at the end", offsetof(struct pb_engine_registers, range_offset), BENCH_BYTES - 1536,
		 true},
		{"ranges past the end", offsetof(struct pb_engine_registers, range_offset),
		 BENCH_BYTES - 1532, false},
		{"ranges far", offsetof(struct pb_engine_registers, range_offset), 0xffffff00, false},
		{"counters unaligned", offsetof(struct pb_engine_registers, translation_offset),
		 BENCH_TRANSLATION + 2, false},
		{"counters at the end", offsetof(struct pb_engine_registers, translation_offset),
		 BENCH_BYTES - 128, true},
		{"counters past the end", offsetof(struct pb_engine_registers, translation_offset),
		 BENCH_BYTES - 124, false},
		{"counters far", offsetof(struct pb_engine_registers, translation_offset), 0xffffff80, false},
		{"progress unaligned", offsetof(struct pb_engine_registers, restore_offset),
		 BENCH_RESTORE + 2, false},
		{"progress at the end", offsetof(struct pb_engine_registers, restore_offset),
		 BENCH_BYTES - 256, true},
		{"progress past the end", offsetof(struct pb_engine_registers, restore_offset),
		 BENCH_BYTES - 252, false},
		{"progress far", offsetof(struct pb_engine_registers, restore_offset), 0xffffff00, false},
		{"channels past the end", offsetof(struct pb_engine_registers, channels), 0x4000000, false},
		{"channels far", offsetof(struct pb_engine_registers, channels), 0xffffffff, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		uint32_t *at;
		uint32_t good;

		bench_start(&bench, PB_NODE_COPY);
		for (uint32_t fed = 0; fed < 5; fed++) {
			bench_feed(&bench, 1, 0, 0);
			bench_run(&bench);
		}
		bench_feed(&bench, 1, 0, 0);
		for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++)
			memcpy(bench.memory + BENCH_BYTES - 128 + 32 * slot, bench.memory + BENCH_RING + 32,
			       32);
		at = bench_at(&bench, BENCH_REGISTERS + (uint32_t)cases[i].at);
		good = *at;
		*at = cases[i].value;
		if (pb_engine_model_step(bench.model, 1) != cases[i].runs ||
		    bench.registers->time != (cases[i].runs ? 6 : 5))
			fail_msg("%s", cases[i].name);
		*at = good;
		bench_run(&bench);
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

static void a_wrong_slot_faults(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		uint32_t code;
	} cases[] = {
		{offsetof(struct pb_engine_slot, buffer_header), PB_PACKET(0x20, 4), PB_ENGINE_FAULT_PACKET},
		{offsetof(struct pb_engine_slot, buffer_header), PB_PACKET(0x00, 5), PB_ENGINE_FAULT_PACKET},
		{offsetof(struct pb_engine_slot, fence_header), PB_PACKET(0x21, 1), PB_ENGINE_FAULT_PACKET},
		{offsetof(struct pb_engine_slot, fence_header), 0, PB_ENGINE_FAULT_PACKET},
		{offsetof(struct pb_engine_slot, address_low), BENCH_BUFFER + 2, PB_ENGINE_FAULT_ALIGNMENT},
		{offsetof(struct pb_engine_slot, bytes), 5, PB_ENGINE_FAULT_ALIGNMENT},
		{offsetof(struct pb_engine_slot, address_high), 0, PB_ENGINE_FAULT_ADDRESS},
		{offsetof(struct pb_engine_slot, bytes), 0xf004, PB_ENGINE_FAULT_ADDRESS},
		{offsetof(struct pb_engine_slot, bytes), 0xfffffffc, PB_ENGINE_FAULT_ADDRESS},
		{offsetof(struct pb_engine_slot, owner), 0, PB_ENGINE_FAULT_ADDRESS},
		{offsetof(struct pb_engine_slot, owner), 3, PB_ENGINE_FAULT_ADDRESS},
		{offsetof(struct pb_engine_slot, owner), 255, PB_ENGINE_FAULT_ADDRESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		struct pb_engine_slot *slot;
		uint64_t address;

		bench_start(&bench, PB_NODE_COPY);
		SUBMIT(&bench, NOP(1)); /* leaves no address behind */
		slot = bench_next_slot(&bench);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 4);
		memcpy((uint8_t *)slot + cases[i].at, &cases[i].value, 4);
		address = (uint64_t)slot->address_high << 32 | slot->address_low;
		bench_run(&bench);
		bench_expect_fault(&bench, cases[i].code,
				   cases[i].code == PB_ENGINE_FAULT_ADDRESS ? address : 0);
		assert_int_equal(bench.interrupts, 2);
		bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
		bench_run(&bench);
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

static void the_owner_is_its_low_byte(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	memcpy(bench.memory + BENCH_OTHER, (const uint32_t[]){FILL(AT(BENCH_RANGE0 + 0x20), 4, 99)}, 20);
	bench_feed(&bench, 0xabcdef02, BENCH_GPU + BENCH_RANGE0, 20);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, BENCH_OTHER + 0x20), 99);
	bench_stop(&bench);
}

static void continue_skips_the_rest_of_all_buffers(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	*bench_at(&bench, BENCH_DATA) = 0;
	STORE(&bench, BENCH_DATA + 0x100, FAULT, FILL(AT(BENCH_DATA), 4, 1));
	STORE(&bench, BENCH_BUFFER, NOP(1), INDIRECT(AT(BENCH_DATA + 0x100), 24), FILL(AT(BENCH_DATA), 4, 2));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 40);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ASKED, BENCH_GPU + BENCH_DATA + 0x100);
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER + 20, 20);
	assert_false(pb_engine_model_step(bench.model, 100));
	assert_int_equal(bench.registers->sequence, 0);
	assert_int_equal(bench.interrupts, 1);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	assert_int_equal(bench.registers->fault_code, 0);
	assert_int_equal(bench.registers->fault_sequence, 0);
	assert_int_equal(*bench_at(&bench, BENCH_DATA), 0);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, BENCH_DATA), 2);
	assert_int_equal(bench.interrupts, 4);
	bench_stop(&bench);
}

static void reset_drops_everything(void **state)
{
	static const uint32_t buffers[][4] = {{HANG}, {FAULT}, {BUSY(5000)}, {NOP(1), NOP(1), NOP(2)}};

	(void)state;
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
		struct bench bench;
		uint32_t time;

		bench_start(&bench, PB_NODE_COPY);
		bench_feed(&bench, 1, 0, 0);
		bench_run(&bench);
		bench_store(&bench, BENCH_BUFFER, buffers[i], 4);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 16);
		bench_feed(&bench, 1, 0, 0);
		pb_engine_model_step(bench.model, 3);
		assert_int_equal(bench.registers->sequence, 1);
		time = bench.registers->time;
		bench_reset(&bench);
		assert_int_equal(bench.registers->head, 0);
		assert_int_equal(bench.registers->sequence, 0);
		assert_int_equal(bench.registers->fault_code, 0);
		assert_false(pb_engine_model_step(bench.model, 100));
		assert_int_equal(bench.registers->time, time);
		SUBMIT(&bench, FILL(AT(BENCH_DATA), 4, 7));
		bench_expect_done(&bench);
		assert_int_equal(*bench_at(&bench, BENCH_DATA), 7);
		assert_int_equal(bench.registers->time, time + 2);
		bench_stop(&bench);
	}
}

static void other_commands_are_acknowledged(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_feed(&bench, 1, 0, 0);
	bench_run(&bench);
	for (uint32_t op = 0; op < 8; op++) {
		if (op == PB_ENGINE_COMMAND_RESET || op == PB_ENGINE_COMMAND_STOP ||
		    op == PB_ENGINE_COMMAND_STOP_INSIDE)
			continue;
		bench_command(&bench, op);
		bench_expect_done(&bench);
	}
	assert_false(pb_engine_model_step(bench.model, 100)); /* and each only once */
	assert_int_equal(bench.interrupts, 6);
	SUBMIT(&bench, BUSY(50));
	bench_expect_done(&bench);
	bench_stop(&bench);
}

/* CONTINUE while a packet runs is no fence for it. */
static void continue_without_a_fault_changes_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_BUFFER, BUSY(50));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 8);
	assert_true(pb_engine_model_step(bench.model, 10));
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	assert_true(pb_engine_model_step(bench.model, 10));
	assert_int_equal(bench.registers->sequence, 0);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(bench.registers->time, 51);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_ring)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_clean),
		cmocka_unit_test(an_empty_slot_is_fenced),
		cmocka_unit_test(slots_run_in_order_around_the_ring),
		cmocka_unit_test(the_fence_waits_for_the_last_packet),
		cmocka_unit_test(nonsense_in_a_register_runs_nothing),
		cmocka_unit_test(a_wrong_slot_faults),
		cmocka_unit_test(the_owner_is_its_low_byte),
		cmocka_unit_test(continue_skips_the_rest_of_all_buffers),
		cmocka_unit_test(reset_drops_everything),
		cmocka_unit_test(other_commands_are_acknowledged),
		cmocka_unit_test(continue_without_a_fault_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
