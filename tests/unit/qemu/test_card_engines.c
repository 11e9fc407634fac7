/* SPDX-License-Identifier: MIT */
/* How the card's event loop lets engines run: at once, not at all, or paced while one hangs. */
#include <stdlib.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "qemu/card_engines.h"
#include "tests/unit/unit.h"

/* A second of engine time in slices of 200 us. */
#define SLICES_TO_HANG 5000u

struct bench {
	uint8_t *memory;
	struct pb_card_engines engines;
	uint32_t interrupts[PB_CARD_NODES];
};

static void interrupt(void *context, uint32_t node)
{
	struct bench *bench = context;

	bench->interrupts[node]++;
}

static int start(void **state)
{
	static struct pb_card_files files;
	static struct bench bench;

	memset(&bench, 0, sizeof(bench));
	bench.memory = calloc(1, PB_CARD_MEMORY_BYTES);
	files.memory = bench.memory;
	*state = &bench;
	return bench.memory != NULL &&
			       pb_card_engines_create(&bench.engines, &files, NULL, -1, interrupt, &bench)
		       ? 0
		       : -1;
}

static int stop(void **state)
{
	struct bench *bench = *state;

	pb_card_engines_destroy(&bench->engines);
	free(bench->memory);
	return 0;
}

static struct pb_engine_registers *registers(const struct bench *bench, uint32_t node)
{
	return (void *)(bench->memory + PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE);
}

/* Gives a node one slot that runs one packet, of up to two words, for channel 0. */
static void feed(const struct bench *bench, uint32_t node, uint32_t header, uint32_t operand)
{
	const uint32_t words[] = {header, operand};
	const uint32_t pool = PB_CARD_POOL_OFFSET + node * 4096u;
	const struct pb_engine_range_entry range = {.bytes = 1u << 20, .memory_offset = PB_CARD_POOL_OFFSET};
	const struct pb_engine_slot slot = {
		.buffer_header = PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_RING_WORDS),
		.address_low = node * 4096u,
		.bytes = PB_PACKET_WORDS(header) * 4u,
		.fence_header = PB_PACKET(PB_PACKET_FENCE, PB_PACKET_FENCE_WORDS),
		.sequence = 1,
	};
	const uint32_t ring = PB_CARD_RINGS_OFFSET + node * PB_CARD_RING_STRIDE;

	memcpy(bench->memory + pool, words, sizeof(words));
	memcpy(bench->memory + PB_CARD_RANGES_OFFSET, &range, sizeof(range));
	memcpy(bench->memory + ring, &slot, sizeof(slot));
	registers(bench, node)->ring_offset = ring;
	registers(bench, node)->ring_slots = 4;
	registers(bench, node)->range_offset = PB_CARD_RANGES_OFFSET;
	registers(bench, node)->channels = 1;
	registers(bench, node)->tail = 1;
}

static void test_idle(void **state)
{
	struct bench *bench = *state;

	feed(bench, 0, PB_PACKET(PB_PACKET_NOP, 1), 0);
	pb_card_engines_run(&bench->engines);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), -1);
	assert_int_equal(registers(bench, 0)->sequence, 0);   /* no doorbell yet */
	pb_card_engines_ring(&bench->engines, PB_CARD_NODES); /* no such node */
	assert_int_equal(pb_card_engines_sleep(&bench->engines), -1);

	pb_card_engines_ring(&bench->engines, 0);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), 0);
	pb_card_engines_run(&bench->engines);
	assert_int_equal(registers(bench, 0)->sequence, 1);
	assert_int_equal(bench->interrupts[0], 1);
	assert_int_equal(bench->interrupts[1], 0);
	for (uint32_t i = 0; i < 100 && pb_card_engines_sleep(&bench->engines) == 0; i++)
		pb_card_engines_run(&bench->engines);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), -1);
}

/* A long submission makes progress, so it is never paced. */
static void long_work_is_never_paced(void **state)
{
	struct bench *bench = *state;
	uint32_t slices = 0;

	feed(bench, 1, PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 3000000);
	pb_card_engines_ring(&bench->engines, 1);
	while (pb_card_engines_sleep(&bench->engines) != -1) {
		assert_int_equal(pb_card_engines_sleep(&bench->engines), 0);
		pb_card_engines_run(&bench->engines);
		assert_true(++slices <= 3000000 / 200 + 2);
	}
	assert_in_range(slices, 3000000 / 200, 3000000 / 200 + 2);
	assert_int_equal(registers(bench, 1)->sequence, 1);
	assert_int_equal(bench->interrupts[1], 1);
}

static void test_hang(void **state)
{
	struct bench *bench = *state;
	uint32_t slices = 0;
	uint32_t time;

	feed(bench, 0, PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS), 0);
	feed(bench, 1, PB_PACKET(PB_PACKET_NOP, 1), 0);
	pb_card_engines_ring(&bench->engines, 0);
	for (; pb_card_engines_sleep(&bench->engines) == 0 && slices < 2 * SLICES_TO_HANG; slices++)
		pb_card_engines_run(&bench->engines);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), 1);
	assert_in_range(slices, SLICES_TO_HANG, SLICES_TO_HANG + 2);
	time = registers(bench, 0)->time;
	pb_card_engines_run(&bench->engines);
	assert_int_equal(registers(bench, 0)->time - time, 1000);

	/* The other node does not suffer. */
	pb_card_engines_ring(&bench->engines, 1);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), 0);
	pb_card_engines_run(&bench->engines);
	assert_int_equal(registers(bench, 1)->sequence, 1);

	registers(bench, 0)->tail = 0;
	registers(bench, 0)->command = PB_ENGINE_COMMAND_ONE | PB_ENGINE_COMMAND_RESET;
	for (uint32_t i = 0; i < 3; i++)
		pb_card_engines_run(&bench->engines);
	assert_int_equal(registers(bench, 0)->command_done, PB_ENGINE_COMMAND_ONE | PB_ENGINE_COMMAND_RESET);
	assert_int_equal(pb_card_engines_sleep(&bench->engines), -1);
}

UNIT_SUITE(test_card_engines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_idle, start, stop),
		cmocka_unit_test_setup_teardown(long_work_is_never_paced, start, stop),
		cmocka_unit_test_setup_teardown(test_hang, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
