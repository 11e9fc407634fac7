/* SPDX-License-Identifier: MIT */
/* The unit that clears outer memory: exactly the range asked for, in slices, and nothing that is not outer memory. */
#include <stdlib.h>
#include <string.h>

#include "hal/engine/reference_memory.h"
#include "hal/engine/registers.h"
#include "hal/engine_model/clear.h"
#include "tests/unit/unit.h"

#define PAGE      0x1000u
#define REGISTERS 0x100u
#define OUTER     0x10000u
#define BYTES     (4u * PB_CLEAR_UNIT_SLICE)
#define ALL       (OUTER + BYTES + PAGE)
#define OLD       0xa5u

struct bench {
	uint8_t *memory;
	struct pb_clear_unit unit;
	struct pb_reference_memory tables; /**< of the driver */
};

static int start(void **state)
{
	static struct bench bench;

	bench = (struct bench){.memory = malloc(ALL)};
	if (bench.memory == NULL)
		return -1;
	memset(bench.memory, OLD, ALL);
	memset(bench.memory + REGISTERS, 0, sizeof(struct pb_engine_clear));
	bench.unit = (struct pb_clear_unit){.memory = bench.memory,
					    .registers_offset = REGISTERS,
					    .outer_offset = OUTER,
					    .outer_bytes = BYTES};
	bench.tables = (struct pb_reference_memory){.card_memory = bench.memory, .clear_offset = REGISTERS};
	pb_clear_unit_start(&bench.unit);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	const struct bench *bench = *state;

	free(bench->memory);
	return 0;
}

static struct pb_engine_clear *registers(const struct bench *bench)
{
	return (void *)(bench->memory + REGISTERS);
}

/** The driver's question, or request. */
static bool ask(struct bench *bench, uint32_t offset, uint32_t bytes)
{
	return pb_reference_memory_ops.clear(&bench->tables, offset, bytes);
}

/** Whether outer memory is clear in [offset, offset + bytes), and as it was elsewhere, up to the memory's end. */
static void expect_clear(const struct bench *bench, uint32_t offset, uint32_t bytes)
{
	for (uint32_t i = REGISTERS + sizeof(struct pb_engine_clear); i < ALL; i++)
		if (bench->memory[i] != (i - offset < bytes ? 0 : OLD))
			fail_msg("byte 0x%x is 0x%02x", i, bench->memory[i]);
}

static void it_says_how_much_there_is(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(registers(bench)->outer_bytes, BYTES);
	assert_false(pb_clear_unit_step(&bench->unit));
	assert_true(ask(bench, 0, 0));
	expect_clear(bench, 0, 0);
}

static void it_clears_what_is_asked_in_slices(void **state)
{
	static const struct {
		const char *name;
		uint32_t offset, bytes, slices;
	} rows[] = {
		{"the first page", OUTER, PAGE, 1},
		{"the last page", OUTER + BYTES - PAGE, PAGE, 1},
		{"a slice", OUTER, PB_CLEAR_UNIT_SLICE, 1},
		{"a slice and a page", OUTER + PAGE, PB_CLEAR_UNIT_SLICE + PAGE, 2},
		{"all", OUTER, BYTES, 4},
	};
	struct bench *bench = *state;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		memset(bench->memory + OUTER, OLD, BYTES);
		assert_true(ask(bench, rows[i].offset, rows[i].bytes));
		for (uint32_t slice = 1; slice <= rows[i].slices; slice++) {
			/* It takes no other request, and reports none as done. */
			assert_false(ask(bench, OUTER, PAGE));
			assert_false(ask(bench, 0, 0));
			assert_int_equal(pb_clear_unit_step(&bench->unit), slice < rows[i].slices);
		}
		assert_true(ask(bench, 0, 0));
		assert_false(pb_clear_unit_step(&bench->unit));
		expect_clear(bench, rows[i].offset, rows[i].bytes);
	}
}

/** As a host may write them: the unit stores nothing and answers nothing, and takes the next good one. */
static void what_is_no_outer_memory_is_left_alone(void **state)
{
	static const struct {
		const char *name;
		uint32_t offset, bytes;
	} rows[] = {
		{"nothing", OUTER, 0},
		{"before it", OUTER - PAGE, PAGE},
		{"into it", OUTER - PAGE, 2 * PAGE},
		{"behind it", OUTER + BYTES, PAGE},
		{"over its end", OUTER + BYTES - PAGE, 2 * PAGE},
		{"more than it", OUTER, BYTES + PAGE},
		{"around", OUTER + PAGE, UINT32_MAX - PAGE + 1},
		{"offset no page", OUTER + 4, PAGE},
		{"no whole pages", OUTER, PAGE + 4},
		{"registers", 0, PAGE},
	};
	struct bench *bench = *state;
	struct pb_engine_clear *unit = registers(bench);

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		unit->offset = rows[i].offset;
		unit->bytes = rows[i].bytes;
		unit->request++;
		assert_false(pb_clear_unit_step(&bench->unit));
		assert_int_not_equal(unit->done, unit->request);
		expect_clear(bench, 0, 0);
	}
	unit->offset = OUTER;
	unit->bytes = PAGE;
	unit->request++;
	assert_false(pb_clear_unit_step(&bench->unit));
	assert_int_equal(unit->done, unit->request);
	expect_clear(bench, OUTER, PAGE);
}

/** Firmware that starts again finds the unit at work for the firmware before it. */
static void a_new_request_replaces_the_old_one(void **state)
{
	struct bench *bench = *state;
	struct pb_engine_clear *unit = registers(bench);

	assert_true(ask(bench, OUTER, BYTES));
	assert_true(pb_clear_unit_step(&bench->unit));
	assert_false(ask(bench, 0, 0));
	unit->offset = OUTER + BYTES - PAGE;
	unit->bytes = PAGE;
	unit->request++;
	assert_false(pb_clear_unit_step(&bench->unit));
	assert_true(ask(bench, 0, 0));
	memset(bench->memory + OUTER, OLD, PB_CLEAR_UNIT_SLICE);
	expect_clear(bench, OUTER + BYTES - PAGE, PAGE);
}

UNIT_SUITE(test_clear_unit)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_says_how_much_there_is, start, stop),
		cmocka_unit_test_setup_teardown(it_clears_what_is_asked_in_slices, start, stop),
		cmocka_unit_test_setup_teardown(what_is_no_outer_memory_is_left_alone, start, stop),
		cmocka_unit_test_setup_teardown(a_new_request_replaces_the_old_one, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
