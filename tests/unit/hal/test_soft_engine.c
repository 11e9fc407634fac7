/* SPDX-License-Identifier: MIT */
/* Soft engines: what is rung runs, a step at a time, and says what it has raised and how long that was. */
#include <string.h>

#include "hal/engine/reference.h"
#include "hal/engine_model/soft.h"
#include "hal/lines.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "tests/unit/unit.h"

#define NODES       2u
#define BYTES       0x8000u
#define REGISTERS   0x100u
#define TRANSLATION 0x400u
#define RINGS       0x500u
#define RING_STRIDE 0x600u
#define RANGES      0x1200u
#define BUFFER      0x4000u
#define GPU         0x70000000u

#define NODE_LINE(n) (1u << PB_LINE_NODE(n))

static _Alignas(8) uint8_t memory[BYTES];
static struct pb_soft_engine nodes[NODES];
static struct pb_soft_engines engines;

/* The driver's doorbells. */
static void ring(void *context, uint32_t line)
{
	pb_soft_engines_ring(context, line - PB_LINE_NODE(0));
}

static const struct pb_lines_ops lines_ops = {.raise = ring};
static const struct pb_lines lines = {.ops = &lines_ops, .context = &engines};

#define CONFIG(n, kind_)                                                                                     \
	{                                                                                                    \
		.memory = memory, .memory_bytes = BYTES, .registers_offset = REGISTERS + (n)*0x100u,         \
		.kind = (kind_)                                                                              \
	}
#define DRIVER(n)                                                                                            \
	{                                                                                                    \
		.memory = &tables, .registers_offset = REGISTERS + (n)*0x100u,                               \
		.ring_offset = RINGS + (n)*RING_STRIDE, .node = (n), .lines = &lines,                        \
	}

static struct pb_reference_memory tables = {
	.card_memory = memory,
	.range_offset = RANGES,
	.channels = 1,
	.dummy_offset = UINT32_MAX,
	.translation_offset = TRANSLATION,
};
static const struct pb_engine_model_config configs[NODES] = {CONFIG(0, PB_NODE_3D), CONFIG(1, PB_NODE_COPY)};
static struct pb_reference_engine drivers[NODES];
static const struct pb_engine_run_ops *const run_ops = &pb_reference_engine_run_ops;
static const struct pb_engine_recover_ops *const recover_ops = &pb_reference_engine_recover_ops;

/* Runs until nothing is left. @return the lines raised; *microseconds: of all steps */
static uint32_t run(uint32_t *microseconds)
{
	uint32_t raised = 0;

	*microseconds = 0;
	for (uint32_t step = 0; pb_soft_engines_running(&engines); step++) {
		uint32_t taken;

		assert_true(step < 1000);
		raised |= pb_soft_engines_step(&engines, &taken);
		*microseconds += taken;
	}
	return raised;
}

/* Two nodes that have been reset, in memory that held anything. */
static int setup(void **state)
{
	static const struct pb_reference_engine fresh[NODES] = {DRIVER(0), DRIVER(1)};
	const struct pb_engine_range range = {.gpu_base = GPU, .bytes = 0x1000, .memory_offset = BUFFER};
	uint32_t microseconds;

	(void)state;
	memset(memory, 0xa5, sizeof(memory));
	memset(nodes, 0xa5, sizeof(nodes));
	memset(memory + RANGES, 0, PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry));
	memcpy(drivers, fresh, sizeof(fresh));
	engines = (struct pb_soft_engines){.configs = configs, .nodes = nodes, .count = NODES, .raised = ~0u};
	pb_soft_engines_start(&engines);
	assert_false(pb_soft_engines_running(&engines));
	for (uint32_t n = 0; n < NODES; n++)
		recover_ops->reset(&drivers[n]);
	assert_int_equal(run(&microseconds), NODE_LINE(0) | NODE_LINE(1));
	assert_int_equal(microseconds, 0);
	pb_reference_memory_ops.set_range(&tables, 0, 0, &range);
	return 0;
}

static void feed(uint32_t node, const uint32_t *packets, uint32_t bytes)
{
	const struct pb_engine_submission work = {.address_low = GPU + node * 0x100u, .bytes = bytes};

	memcpy(memory + BUFFER + node * 0x100u, packets, bytes);
	run_ops->feed(&drivers[node], &work, 1);
}

static struct pb_engine_report poll(uint32_t node, enum pb_engine_state wanted)
{
	struct pb_engine_report report;

	assert_int_equal(run_ops->poll(&drivers[node], &report), wanted);
	return report;
}

static const uint32_t fill[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), GPU + 0x800u, 0, 16,
				0x1234567};

static uint32_t filled(uint32_t word)
{
	return pb_shared_read32((const uint32_t *)(const void *)(memory + BUFFER + 0x800u) + word);
}

static void work_runs_and_is_fenced(void **state)
{
	uint32_t microseconds;

	(void)state;
	feed(1, fill, sizeof(fill));
	assert_true(pb_soft_engines_running(&engines));
	assert_int_equal(run(&microseconds), NODE_LINE(1));
	/* One for the slot, one for the packet. */
	assert_int_equal(microseconds, 2);
	assert_int_equal(poll(1, PB_ENGINE_READY).sequence, 1);
	assert_int_equal(poll(1, PB_ENGINE_READY).time, 2);
	assert_int_equal(poll(0, PB_ENGINE_READY).sequence, 0);
	assert_int_equal(filled(0), 0x1234567);
	assert_int_equal(filled(3), 0x1234567);
	assert_int_equal(filled(4), 0xa5a5a5a5);
	/* Nothing is raised twice. */
	assert_int_equal(pb_soft_engines_step(&engines, &microseconds), 0);
	assert_int_equal(microseconds, 0);
}

/* Two nodes side by side take as long as the longer one, and a step is short. */
static void nodes_run_side_by_side(void **state)
{
	static const uint32_t busy[NODES][2] = {
		{PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 25},
		{PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 4},
	};
	uint32_t microseconds;

	(void)state;
	feed(0, busy[0], sizeof(busy[0]));
	feed(1, busy[1], sizeof(busy[1]));
	assert_int_equal(pb_soft_engines_step(&engines, &microseconds), NODE_LINE(1));
	assert_int_equal(microseconds, PB_SOFT_ENGINE_STEP_US);
	assert_int_equal(poll(1, PB_ENGINE_READY).sequence, 1);
	assert_int_equal(poll(0, PB_ENGINE_READY).sequence, 0);
	assert_int_equal(run(&microseconds), NODE_LINE(0));
	assert_int_equal(microseconds, 26u - PB_SOFT_ENGINE_STEP_US);
	assert_int_equal(poll(0, PB_ENGINE_READY).sequence, 1);
}

/* What never ends does not keep the others from running, and a reset ends it. */
static void what_hangs_is_reset(void **state)
{
	static const uint32_t hang[] = {PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS)};
	uint32_t microseconds;

	(void)state;
	feed(0, hang, sizeof(hang));
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(pb_soft_engines_step(&engines, &microseconds), 0);
	assert_int_equal(microseconds, PB_SOFT_ENGINE_STEP_US);
	feed(1, fill, sizeof(fill));
	assert_int_equal(pb_soft_engines_step(&engines, &microseconds), NODE_LINE(1));
	assert_true(pb_soft_engines_running(&engines));
	recover_ops->reset(&drivers[0]);
	assert_int_equal(run(&microseconds), NODE_LINE(0));
	assert_int_equal(poll(0, PB_ENGINE_READY).sequence, 0);
}

static void a_fault_is_told(void **state)
{
	static const uint32_t fault[] = {PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS)};
	struct pb_engine_fault told;
	uint32_t microseconds;

	(void)state;
	feed(0, fault, sizeof(fault));
	assert_int_equal(run(&microseconds), NODE_LINE(0));
	(void)poll(0, PB_ENGINE_FAULTED);
	recover_ops->fault(&drivers[0], &told);
	assert_int_equal(told.code, PB_ENGINE_FAULT_ASKED);
	assert_int_equal(told.sequence, 1);
}

static void a_node_that_is_not_there_is_nobodys(void **state)
{
	uint32_t microseconds;

	(void)state;
	pb_soft_engines_ring(&engines, NODES);
	pb_soft_engines_ring(&engines, UINT32_MAX);
	assert_false(pb_soft_engines_running(&engines));
	/* Rung for nothing, it has nothing to do. */
	pb_soft_engines_ring(&engines, 0);
	assert_int_equal(run(&microseconds), 0);
	assert_int_equal(microseconds, 0);
}

UNIT_SUITE(test_soft_engine)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(work_runs_and_is_fenced, setup),
		cmocka_unit_test_setup(nodes_run_side_by_side, setup),
		cmocka_unit_test_setup(what_hangs_is_reset, setup),
		cmocka_unit_test_setup(a_fault_is_told, setup),
		cmocka_unit_test_setup(a_node_that_is_not_there_is_nobodys, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
